import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import type { ErrorBody } from "../../../src/domain/errors";
import type { Task } from "../../../src/domain/spec/task";
import type { PageOfUpgrade } from "../../../src/domain/spec/upgrade";
import { example, exampleNow } from "../../support/service/examples";
import { ServiceUnderTest, until } from "../../support/service/service-under-test";

describe("Idempotency-Key", function () {
  this.timeout(120_000);
  const folder = mkdtempSync(join(tmpdir(), "ums-idempotency-"));
  const catalog = join(folder, "bundles.yaml");
  let service: ServiceUnderTest;

  before(async () => {
    copyFileSync(resolve(__dirname, "../../../config/bundles.yaml"), catalog);
    service = await ServiceUnderTest.start({ CATALOG_FILE: catalog });
  });
  after(async () => {
    await service.discard();
    rmSync(folder, { recursive: true, force: true });
  });

  const post = (spec: unknown, key: string) =>
    service.post<Task & ErrorBody>("/v1/upgrades", spec, { "idempotency-key": key });
  /** As a client does that is told to come back: more at once than the API takes are asked to. */
  const postUntilTaken = async (spec: unknown, key: string): ReturnType<typeof post> => {
    for (;;) {
      const answer = await post(spec, key);
      if (answer.status !== 503) return answer;
      await setTimeout(Number(answer.headers.get("retry-after")) * 1000);
    }
  };
  /** The upgrades that Temporal knows, closed ones as well. */
  const upgrades = async () => (await service.get<PageOfUpgrade>("/v1/upgrades")).body.elements?.length ?? 0;

  it("starts one upgrade for fifty identical requests at once, and answers its initial Task to all", async () => {
    const spec = exampleNow("cluster-draft");
    const answers = await Promise.all(Array.from({ length: 50 }, () => postUntilTaken(spec, "fifty")));
    expect(new Set(answers.map(({ status }) => status))).to.deep.equal(new Set([202]));
    const [first] = answers;
    for (const { body } of answers) expect(body).to.deep.equal(first?.body);
    expect(first?.body.status).to.equal("Pending");
    await until("the list shows it", async () => (await upgrades()) === 1);
    await service.taskWhen(first!.body.id, "is successful", ({ status }) => status === "Successful");
    expect(Object.values(await service.remediations()), "no host was upgraded twice").to.deep.equal([1, 1, 1, 1]);
    expect(await upgrades()).to.equal(1);

    const late = await post(exampleNow("cluster-draft"), "fifty");
    expect([late.status, late.body], "the same answer when it is long done").to.deep.equal([202, first?.body]);
    expect(await upgrades()).to.equal(1);
  });

  it("holds across a kill -9 of the API, a recall of the bundle and the lock of its own upgrade", async () => {
    await service.resetSimulator();
    const request = exampleNow("cluster-scheduled");
    // So soon that it holds its cluster.
    const scheduledTimestamp = new Date(Date.now() + 1_800_000).toISOString();
    const resourceUpgradeSpecs = request.resourceUpgradeSpecs.map((one) => ({ ...one, scheduledTimestamp }));
    const spec = { ...request, resourceUpgradeSpecs };
    const before = await post(spec, "across");
    expect(before.status).to.equal(202);
    const lock = `cluster/${spec.resourceUpgradeSpecs[0]?.resourceId}`;
    const held = `WorkflowId = "${lock}" AND ExecutionStatus = "Running"`;
    await until("its cluster is held", () =>
      service.withTemporal(async (client) => (await client.workflow.count(held)).count === 1),
    );
    const locked = await post(spec, "another-key");
    expect([locked.status, locked.body.errorCode]).to.deep.equal([403, "RESOURCE_LOCKED"]);

    const text = readFileSync(catalog, "utf8");
    writeFileSync(catalog, text.replaceAll("downloadStatus: SUCCESSFUL", "downloadStatus: RECALLED"));
    await service.killAndAwaitSuccessor("api");
    await until("the API answers", () =>
      service.get("/health/ready").then(
        ({ status }) => status === 200,
        () => false,
      ),
    );
    const refused = await post({ ...spec, resourceUpgradeSpecs: example("cluster-draft").resourceUpgradeSpecs }, "new");
    expect([refused.status, refused.body.errorCode]).to.deep.equal([424, "BUNDLE_RECALLED"]);

    const after = await post(spec, "across");
    expect([after.status, after.body]).to.deep.equal([202, before.body]);
    expect(after.headers.get("location")).to.equal(`/v1/tasks/${before.body.id}`);
    const other = await post({ ...spec, draftMode: true }, "across");
    expect([other.status, other.body.errorCode, other.body.context]).to.deep.equal([
      400,
      "IDEMPOTENCY_KEY_REUSED",
      { path: "Idempotency-Key" },
    ]);
    expect(await upgrades()).to.equal(2);
  });

  it("is refused by name where it is no key", async () => {
    for (const key of ["two words", "x".repeat(256)]) {
      const { status, body } = await post(exampleNow("cluster-draft"), key);
      expect([status, body.errorCode]).to.deep.equal([400, "INVALID_PARAMETER"]);
      expect(body.message).to.contain("Idempotency-Key");
    }
  });
});
