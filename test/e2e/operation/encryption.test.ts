import { randomBytes, randomUUID } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import type { ErrorBody } from "../../../src/domain/errors";
import type { UpgradePlan } from "../../../src/domain/plan/upgrade-plan";
import type { Task } from "../../../src/domain/spec/task";
import { startWorkflow } from "../../../src/temporal/upgrade-executions";
import { allRuns, rawWorkflow, textIn } from "../../support/raw-history";
import { secretScan } from "../../support/secret-scan";
import { exampleNow } from "../../support/service/examples";
import { hostsOf, ServiceUnderTest } from "../../support/service/service-under-test";

const secondHost = "fra1-esx-02.mgmt.example.com";
/** Parts of names of clusters, hosts and images, and of messages. */
const names = ["fra1-", ".example.com", "bootbank", "domain-c34", "remediationMessage"];

const keys = { first: randomBytes(32).toString("base64"), second: randomBytes(32).toString("base64") };

function entry(id: keyof typeof keys): string {
  return `  - id: ${id}\n    key: ${keys[id]}\n`;
}

describe("encryption of what Temporal stores", function () {
  this.timeout(180_000);
  let folder: string;
  let keysFile: string;
  let service: ServiceUnderTest;
  const [first, second] = [entry("first"), entry("second")];

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "ums-encryption-"));
    keysFile = join(folder, "keys.yaml");
    useKeys(first);
    service = await ServiceUnderTest.start({
      PAYLOAD_KEYS_FILE: keysFile,
      SIMULATOR_HOST_SECONDS: "0.4",
      POLL_MIN_MILLISECONDS: "50",
    });
  });
  after(async () => {
    await service.discard();
    rmSync(folder, { recursive: true });
  });
  beforeEach(() => service.resetSimulator());

  function useKeys(...entries: string[]) {
    writeFileSync(keysFile, `keys:\n${entries.join("")}`, { mode: 0o600 });
  }

  async function restartWith(...entries: string[]) {
    useKeys(...entries);
    await service.stop();
    await service.startAgain();
  }

  /** What a Workflow was started with, as the server stores it. */
  async function startInput(workflowId: string) {
    return service.withTemporal(async (client) => {
      const { namespace } = client.options;
      const execution = { workflowId };
      const { history } = await client.workflowService.getWorkflowExecutionHistory({ namespace, execution });
      return history?.events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads ?? [];
    });
  }

  /** The values of payloads, as the Web UI gets them. */
  async function decrypted(payloads: Awaited<ReturnType<typeof startInput>>): Promise<unknown[]> {
    const base64 = (bytes: Uint8Array | null | undefined) => Buffer.from(bytes ?? []).toString("base64");
    const asked = payloads.map(({ metadata, data }) => ({
      metadata: Object.fromEntries(Object.entries(metadata ?? {}).map(([name, value]) => [name, base64(value)])),
      data: base64(data),
    }));
    const answer = await service.post<{ payloads: { data: string }[] }>("/codec/decode", { payloads: asked });
    expect(answer.status).to.equal(200);
    return answer.body.payloads.map(({ data }) => JSON.parse(Buffer.from(data, "base64").toString()) as unknown);
  }

  const successful = ({ status }: Task) => status === "Successful";

  it("hides every name and message of an upgrade that fails and is retried, and the upgrade runs whole", async () => {
    await service.fault({ kind: "REMEDIATION_FAILS", host: secondHost, times: 1, message: "bootbank is too small" });
    const { id } = await service.startUpgrade(exampleNow("cluster-draft"));
    const failed = await service.taskWhen(id, "failed", ({ status }) => status === "Failed");
    expect(JSON.stringify(failed.subTasks)).to.contain("bootbank is too small").and.contain(secondHost);
    expect((await service.send("PATCH", `/v1/tasks/${id}`)).status).to.equal(200);
    const done = await service.taskWhen(id, "is successful", successful);
    expect(hostsOf(done).map(({ status }) => status)).to.deep.equal(Array(4).fill("SUCCESSFUL"));

    await service.withTemporal(async (client) => {
      const runs = await allRuns(client);
      expect(runs.some(({ workflowId }) => workflowId.startsWith("cluster/"))).to.equal(true);
      const texts: string[] = [];
      for (const { workflowId, runId } of runs) {
        const stored = textIn(await rawWorkflow(client, workflowId, runId));
        expect(stored.includes("binary/encrypted")).to.equal(true);
        texts.push(stored);
        for (const name of names) expect(stored.includes(name), `${name} in ${workflowId}`).to.equal(false);
      }
      expect(texts.some((text) => text.includes("Encoded failure"))).to.equal(true);
    });
  });

  it("lets an operator's plain Signal commit a draft", async () => {
    const { id } = await service.startUpgrade({ ...exampleNow("cluster-draft"), draftMode: true });
    await service.signalUpgrade(id, "commit", { requestedBy: "an operator with the CLI" });
    await service.taskWhen(id, "is successful", successful);
  });

  it("reads what earlier keys have encrypted, and names the key that has been taken away", async () => {
    const ended = await service.startUpgrade(exampleNow("cluster-draft"));
    const before = await service.taskWhen(ended.id, "is successful", successful);
    const running = await service.startUpgrade({ ...exampleNow("cluster-draft"), draftMode: true });
    await service.taskWhen(running.id, "waits", ({ status }) => status === "Pending");

    await restartWith(second, first);
    // Hosts that were upgraded before would be skipped.
    await service.resetSimulator();
    expect((await service.send("PATCH", `/v1/upgrades/${running.id}`)).status).to.equal(200);
    await service.taskWhen(running.id, "is successful", successful);
    expect(await service.task(ended.id)).to.deep.equal(before);

    await restartWith(second);
    const { status, body } = await service.get<ErrorBody>(`/v1/tasks/${ended.id}`);
    expect([status, body.errorCode, body.context?.["keyId"]]).to.deep.equal([500, "PAYLOAD_KEY_MISSING", "first"]);
    expect(body.message).to.contain('"first"');
    expect(secretScan(keys)(JSON.stringify(body))).to.deep.equal([]);

    // The lists are there: what cannot be read is told for itself.
    for (const path of ["/v1/upgrades", "/v1/tasks"]) {
      const list = await service.get<{ elements: { id: string; status: string; errors?: ErrorBody[] }[] }>(path);
      expect(list.status, path).to.equal(200);
      const unreadable = list.body.elements.find(({ id }) => id === ended.id);
      expect(unreadable?.status).to.be.oneOf(["COMPLETED_WITH_SUCCESS", "Successful"]);
      expect(unreadable?.errors?.map(({ errorCode, context }) => [errorCode, context?.["keyId"]])).to.deep.equal([
        ["PAYLOAD_KEY_MISSING", "first"],
      ]);
      expect(list.body.elements.map(({ id }) => id)).to.include(running.id);
      expect(secretScan(keys)(JSON.stringify(list.body))).to.deep.equal([]);
    }

    expect(
      secretScan(keys)(JSON.stringify([service.log("api"), service.log("worker"), service.printed])),
    ).to.deep.equal([]);

    await restartWith(first, second);
    expect(await service.task(ended.id)).to.deep.equal(before);
  });

  it("goes on with an upgrade that was accepted while nothing was encrypted", async () => {
    const { id } = await service.startUpgrade({ ...exampleNow("cluster-draft"), draftMode: true });
    const [plan] = (await decrypted(await startInput(id))) as [UpgradePlan];
    await service.send("DELETE", `/v1/tasks/${id}`);
    const before = randomUUID();
    await service.withTemporal((client) => startWorkflow(client, { ...plan, id: before }, { requestedBy: "a test" }));
    expect(String((await startInput(before))[0]?.data)).to.contain(before);
    await service.taskWhen(before, "waits", ({ status }) => status === "Pending");
    expect((await service.send("PATCH", `/v1/upgrades/${before}`)).status).to.equal(200);
    await service.taskWhen(before, "is successful", successful);
  });

  it("tells no key, in no history, log, answer or metric, and they can be found", async () => {
    const texts = [service.printed, await (await fetch(`${service.apiUrl}/metrics`)).text()];
    for (const role of ["api", "worker"] as const) texts.push(JSON.stringify(service.log(role)));
    await service.withTemporal(async (client) => {
      for (const { workflowId, runId } of await allRuns(client))
        texts.push(textIn(await rawWorkflow(client, workflowId, runId)));
    });
    for (const path of ["/v1/upgrades", "/v1/tasks"]) texts.push(JSON.stringify(await service.get(path)));
    expect(texts.length).to.be.greaterThan(5);
    expect(texts.flatMap((text) => secretScan(keys)(text))).to.deep.equal([]);
    // That keys can be found: what the scan is given is what the service was given.
    expect(secretScan(keys)(readFileSync(keysFile, "utf8"))).to.deep.equal(["first", "second"]);
  });

  it("has payloads decrypted for the Web UI", async () => {
    const { id } = await service.startUpgrade({ ...exampleNow("cluster-draft"), draftMode: true });
    expect(await decrypted(await startInput(id))).to.have.nested.property("[0].id", id);
    await service.send("DELETE", `/v1/tasks/${id}`);
  });
});
