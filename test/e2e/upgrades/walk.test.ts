import { exec } from "node:child_process";
import { promisify } from "node:util";
import { expect } from "chai";
import { isRight } from "fp-ts/Either";
import type { ErrorBody } from "../../../src/domain/errors";
import { Task } from "../../../src/domain/spec/task";
import { PageOfUpgrade, type Upgrade } from "../../../src/domain/spec/upgrade";
import { example, exampleNow } from "../../support/service/examples";
import { hostsOf, ServiceUnderTest, until } from "../../support/service/service-under-test";

describe("npm start: README's walk", function () {
  this.timeout(180_000);
  let service: ServiceUnderTest;

  before(async () => {
    service = await ServiceUnderTest.start();
  });
  after(() => service.discard());

  it("prints the addresses and the next commands, then ready", () => {
    expect(service.printed).to.contain(`${service.apiUrl}/v1/upgrades`);
    expect(service.printed).to.contain(`${service.apiUrl}/docs/api`);
    expect(service.printed).to.contain(service.simulatorUrl);
    expect(service.printed).to.match(/Temporal Web UI/);
    expect(service.printed).to.match(/curl .*examples\/cluster-draft\.json\n/);
    expect(service.printed).to.match(/ready\n$/);
  });

  it("takes a draft through prechecks, commit and every host to Successful, and has nothing to do the next time", async () => {
    const accepted = await service.post<Task>("/v1/upgrades", example("cluster-draft"));
    expect(accepted.status).to.equal(202);
    expect(isRight(Task.decode(accepted.body))).to.equal(true);
    const { id } = accepted.body;
    expect(accepted.headers.get("location")).to.equal(`/v1/tasks/${id}`);

    await until(
      "the new upgrade is in the list",
      async () => {
        const { body } = await service.get<PageOfUpgrade>("/v1/upgrades?status=DRAFT");
        return body.elements?.some((upgrade) => upgrade.id === id) === true;
      },
      1,
    );

    const draft = await service.taskWhen(
      id,
      "waits for its commit",
      (task) => task.status === "Pending" && task.subTasks?.[0]?.status === "SUCCESSFUL",
    );
    const checks = draft.subTasks?.[0]?.subTasks?.[0]?.stages ?? [];
    expect(checks.length).to.be.greaterThan(4);
    expect(checks.every((check) => check.status === "SUCCESSFUL")).to.equal(true);
    expect((await service.get<Upgrade>(`/v1/upgrades/${id}`)).body.status).to.equal("DRAFT");
    expect(await service.remediations(), "a draft touches nothing").to.deep.equal({});

    const printedCommit = /^ {2}(.+ workflow signal .+)$/m.exec(service.printed)?.[1] ?? "";
    await promisify(exec)(printedCommit.replace("ID", id));
    const running = await service.taskWhen(id, "shows a running host", (task) =>
      hostsOf(task).some((host) => host.status === "IN_PROGRESS"),
    );
    const inWork = hostsOf(running).filter((host) => host.status === "IN_PROGRESS");
    expect(inWork, "one host at a time").to.have.length(1);
    expect(inWork[0]?.resources?.[0]?.type).to.equal("HOSTOS_HOST");
    expect(inWork[0]?.resources?.[0]?.fqdn).to.match(/\.example\.com$/);

    const done = await service.taskWhen(id, "is successful", (task) => task.status === "Successful");
    expect(hostsOf(done).map((host) => host.status)).to.deep.equal(Array(4).fill("SUCCESSFUL"));
    for (const host of hostsOf(done)) expect(host.stages).to.have.length(4);
    expect(done.isCancellable).to.equal(false);
    expect(done.completionTimestamp).to.be.a("string");
    expect(isRight(Task.decode(done))).to.equal(true);
    const remediated = await service.remediations();
    expect(Object.values(remediated)).to.deep.equal([1, 1, 1, 1]);

    const { body } = await service.get<Upgrade>(`/v1/upgrades/${id}`);
    expect(body.status).to.equal("COMPLETED_WITH_SUCCESS");
    expect(body.endTime).to.be.closeTo(Date.now(), 60_000);
    await until("the list agrees", async () => {
      const list = await service.get<PageOfUpgrade>("/v1/upgrades?status=COMPLETED_WITH_SUCCESS");
      return isRight(PageOfUpgrade.decode(list.body)) && list.body.elements?.some((u) => u.id === id) === true;
    });

    const again = await service.startUpgrade(exampleNow("cluster-draft"));
    const skipped = await service.taskWhen(again.id, "has nothing to do", ({ status }) => status === "SKIPPED");
    expect(hostsOf(skipped).map((host) => host.status)).to.deep.equal(Array(4).fill("NOT_APPLICABLE"));
    expect(await service.remediations()).to.deep.equal(remediated);
  });

  it("upgrades clusters in parallel and refuses a second upgrade of one that is held", async () => {
    const spec = example("clusters-with-retry");
    const { id } = await service.startUpgrade(spec);
    const parallel = await service.taskWhen(
      id,
      "has two hosts in work",
      (task) => hostsOf(task).filter((host) => host.status === "IN_PROGRESS").length === 2,
    );
    expect(parallel.status).to.equal("In Progress");
    const refused = await service.post<ErrorBody>("/v1/upgrades", {
      ...spec,
      resourceUpgradeSpecs: spec.resourceUpgradeSpecs.slice(0, 1),
    });
    expect(refused.status).to.equal(403);
    expect(refused.body.errorCode).to.equal("RESOURCE_LOCKED");
    expect(refused.body.message).to.contain(id);
    await service.taskWhen(id, "is successful", ({ status }) => status === "Successful");
    expect(Object.values(await service.remediations()).every((count) => count === 1)).to.equal(true);
  });

  it("refuses the invalid example with every reason at once", async () => {
    const { status, body } = await service.post<ErrorBody>("/v1/upgrades", example("invalid"));
    expect(status).to.equal(400);
    expect(body.nestedErrors?.map(({ errorCode, errorType }) => `${errorCode} ${errorType}`)).to.have.members([
      "ONLY_PARALLEL_UPGRADES NOT_ALLOWED",
      "RESOURCE_UNKNOWN INVALID_INPUT",
      "POWER_ACTION_CONTRADICTION INVALID_INPUT",
      "SCHEDULE_IN_THE_PAST INVALID_INPUT",
      "BUNDLE_UNKNOWN FAILED_DEPENDENCY",
    ]);
  });
});
