import { expect } from "chai";
import type { PageOfActivity } from "../../../src/domain/activity/upgrade-activity";
import type { ErrorBody } from "../../../src/domain/errors";
import type { Task } from "../../../src/domain/spec/task";
import type { Upgrade } from "../../../src/domain/spec/upgrade";
import { currentFindings } from "../../../src/domain/task/findings";
import { type LogLine, until } from "../../support/service/deployment";
import { example } from "../../support/service/examples";
import { ServiceUnderTest } from "../../support/service/service-under-test";

type Line = LogLine & Readonly<Record<string, unknown>>;

const host = "fra1-esx-02.mgmt.example.com";

describe("findings of prechecks", function () {
  this.timeout(180_000);
  let service: ServiceUnderTest;

  before(async () => {
    service = await ServiceUnderTest.start({ SIMULATOR_HOST_SECONDS: "1", POLL_MIN_MILLISECONDS: "50" });
  });
  after(() => service.discard());
  beforeEach(() => service.resetSimulator());

  const read = async (id: string) => (await service.get<Upgrade>(`/v1/upgrades/${id}`)).body;
  const untilPhase = (id: string, phase: string) =>
    until(`${id} is ${phase}`, async () => (await read(id)).phase === phase);
  const acknowledge = (id: string, run: number, body: object) =>
    service.send<Task & ErrorBody>("POST", `/v1/upgrades/${id}/prechecks/${id}-prechecks-${run}/acknowledge`, body);
  const findingsOf = async (id: string) =>
    currentFindings((await service.get<Task>(`/v1/tasks/${id}`)).body).map(({ finding }) => finding);

  it("block a draft until each is acknowledged, and then neither prechecks nor health gate", async () => {
    await service.fault({ kind: "CHECK_FAILS", host, issue: "vSAN health is red", times: 99 });
    const { id } = await service.startUpgrade(example("cluster-draft"));
    await untilPhase(id, "PRECHECKS_FAILED");
    const [finding] = await findingsOf(id);
    if (!finding) throw new Error("The health check has found nothing");
    const { code, resourceId, hostId } = finding;
    expect([finding.severity, code, finding.hostName]).to.deep.equal(["ERROR", "HEALTH_CHECK_ERROR", host]);
    expect((await read(id)).findings).to.include({ errors: 1, acknowledged: 0 });

    const body = { code, resourceId, hostId, reason: "The rebuild ends tonight" };
    const missing = await acknowledge(id, 1, { ...body, hostId: "host-0" });
    expect([missing.status, missing.body.errorCode]).to.deep.equal([404, "FINDING_NOT_FOUND"]);
    expect(missing.body.message).to.contain("host-0");
    expect((await acknowledge(id, 7, body)).body.errorCode).to.equal("PRECHECK_NOT_FOUND");
    expect((await acknowledge(id, 1, { ...body, all: true })).body.errorCode).to.equal("UNKNOWN_FIELD");
    const past = await acknowledge(id, 1, { ...body, until: "2020-01-01T00:00:00Z" });
    expect([past.status, past.body.errorCode]).to.deep.equal([400, "ACKNOWLEDGEMENT_IN_THE_PAST"]);

    const done = await acknowledge(id, 1, body);
    expect([done.status, done.body.id, done.body.status]).to.deep.equal([200, `${id}-prechecks-1`, "Successful"]);
    await untilPhase(id, "DRAFT_READY");
    expect((await findingsOf(id))[0]?.acknowledged).to.include({ reason: body.reason });
    await service.send("POST", `/v1/upgrades/${id}/prechecks`);
    await until("it has run again", async () => (await service.get(`/v1/tasks/${id}-prechecks-2`)).status === 200);
    await untilPhase(id, "DRAFT_READY");
    expect((await acknowledge(id, 1, body)).body.errorCode).to.equal("PRECHECKS_SUPERSEDED");

    await service.send("PATCH", `/v1/upgrades/${id}`, { upgradeNow: true });
    const task = await service.taskWhen(
      id,
      "has ended",
      ({ completionTimestamp }) => completionTimestamp !== undefined,
    );
    expect([task.status, JSON.stringify(task.errors)]).to.deep.equal(["Successful", undefined]);

    const { body: log } = await service.get<PageOfActivity>(`/v1/upgrades/${id}/activity`);
    const told = (log.elements ?? []).filter(({ kind }) => kind === "ACKNOWLEDGE");
    expect(told.map(({ outcome, details }) => [outcome, details?.finding, details?.reason])).to.deep.include.members([
      ["REFUSED", "HEALTH_CHECK_ERROR", body.reason],
      ["ACCEPTED", "HEALTH_CHECK_ERROR", body.reason],
    ]);
    const audited = (service.log("api") as Line[]).filter(
      (line) => line["action"] === "acknowledgeFinding" && line["upgradeId"] === id && line["outcome"] === "DONE",
    );
    expect(audited).to.have.length(1);
  });

  it("that nobody can wave through are 409", async () => {
    const { id } = await service.startUpgrade(example("cluster-draft"));
    await untilPhase(id, "DRAFT_READY");
    await service.fault({ kind: "SESSIONS_EXPIRED" });
    await service.fault({ kind: "LOGIN_REFUSED", times: 99 });
    await service.send("POST", `/v1/upgrades/${id}/prechecks`);
    await untilPhase(id, "PRECHECKS_FAILED");
    for (const { code, resourceId, isAcknowledgeable } of await findingsOf(id)) {
      const { status, body } = await acknowledge(id, 2, { code, resourceId, reason: "Please" });
      expect([isAcknowledgeable, status, body.errorCode], code).to.deep.equal([
        ...[false, 409, "FINDING_NOT_ACKNOWLEDGEABLE"],
      ]);
    }
  });
});
