import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { hashPassword } from "../../../src/authentication/users";
import type { PageOfActivity } from "../../../src/domain/activity/upgrade-activity";
import type { Task } from "../../../src/domain/spec/task";
import { waitsForCommit } from "../../support/waits-for-commit";
import { type LogLine, until } from "../../support/service/deployment";
import { exampleNow } from "../../support/service/examples";
import { ServiceUnderTest } from "../../support/service/service-under-test";

const names = ["alice", "bob"] as const;
type Name = (typeof names)[number];
type Line = LogLine & Readonly<Record<string, unknown>>;

const password = "a password of both";
/** The last of its cluster, so that there is time to pause and resume before it fails. */
const host = "fra1-esx-04.mgmt.example.com";
const day = 86_400_000;

describe("who did what to an upgrade", function () {
  this.timeout(180_000);
  let folder: string;
  let service: ServiceUnderTest;
  const tokens = new Map<Name, string>();

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "ums-who-"));
    const hash = await hashPassword(password);
    const users = names.map((username) => ({ username, role: "OPERATOR", password: hash }));
    const file = (name: string, text: string) => {
      writeFileSync(join(folder, name), text, { mode: 0o600 });
      return join(folder, name);
    };
    service = await ServiceUnderTest.start({
      SIMULATOR_HOST_SECONDS: "2",
      AUTH_MODE: "local",
      AUTH_USERS_FILE: file("users.yaml", JSON.stringify({ users })),
      AUTH_SIGNING_KEY_FILE: file("signing-key.txt", randomBytes(48).toString("base64")),
    });
    for (const username of names) {
      const { body } = await service.post<{ accessToken: string }>("/v1/tokens", { username, password });
      tokens.set(username, body.accessToken);
    }
  });
  after(async () => {
    await service.discard();
    rmSync(folder, { recursive: true });
  });
  beforeEach(() => service.resetSimulator());

  /** Asks as one of the two; fails where that is refused. */
  async function as(name: Name, method: "POST" | "PATCH" | "DELETE", path: string, body?: unknown): Promise<Task> {
    service.token = tokens.get(name);
    const answer = await service.send<Task>(method, path, body);
    expect(answer.status, `${method} ${path}: ${JSON.stringify(answer.body)}`).to.be.oneOf([200, 202]);
    return answer.body;
  }

  const inDays = (days: number) => ({ scheduledTimestamp: new Date(Date.now() + days * day).toISOString() });

  /** What the Web UI shows: of the start its memo and details, each Signal's name and sender, a cancellation's reason. */
  function inTemporal(id: string) {
    return service.withTemporal(async (client) => {
      const handle = client.workflow.getHandle(id);
      const described = await handle.describe();
      const { events } = await handle.fetchHistory();
      const told = (events ?? []).flatMap((event) => {
        const { signalName, input } = event.workflowExecutionSignaledEventAttributes ?? {};
        const { cause } = event.workflowExecutionCancelRequestedEventAttributes ?? {};
        if (typeof cause === "string") return [cause];
        const [payload] = input?.payloads ?? [];
        if (typeof signalName !== "string" || !payload?.data) return [];
        const sent = JSON.parse(Buffer.from(payload.data).toString()) as { requestedBy?: string };
        return sent.requestedBy === undefined ? [] : [`${signalName} by ${sent.requestedBy}`];
      });
      return { startedBy: described.memo?.["requestedBy"], details: await described.staticDetails(), told };
    });
  }

  /** The requests of the upgrade's activity log, which its Workflow answers also after its end. */
  async function inActivity(id: string): Promise<string[]> {
    const { status, body } = await service.get<PageOfActivity>(`/v1/upgrades/${id}/activity`);
    expect(status, JSON.stringify(body)).to.equal(200);
    return (body.elements ?? [])
      .filter(({ outcome }) => outcome !== undefined)
      .map(({ kind, actor, via, outcome, errorCode }) => [kind, actor, via, outcome, errorCode].join(" ").trimEnd());
  }

  const inAuditTrail = (id: string) =>
    (service.log("api") as Line[])
      .filter((line) => line["event"] === "audit" && line["upgradeId"] === id)
      .map((line) => [line["action"], line["caller"], line["callerRole"], line["outcome"]].join(" "));

  const asked = (id: string) =>
    (service.log("worker") as Line[])
      .filter((line) => line.msg === "Request accepted" && line["taskId"] === id)
      .map((line) => `${String(line["request"])} by ${String(line["requestedBy"])}`);

  /** Lines come a moment later than what they tell of. */
  const logged = (id: string, lastAudited: string, lastAsked: string) =>
    until(
      "what was asked is in the logs",
      () => inAuditTrail(id).at(-1) === lastAudited && asked(id).at(-1) === lastAsked,
    );

  it("is told of a draft that is committed for a time, moved to another and cancelled", async () => {
    const { id } = await as("alice", "POST", "/v1/upgrades", { ...exampleNow("cluster-draft"), draftMode: true });
    const waits = () => service.taskWhen(id, "waits", waitsForCommit);
    await waits();
    await as("bob", "POST", `/v1/upgrades/${id}/prechecks`);
    await waits();
    await as("bob", "PATCH", `/v1/upgrades/${id}`, inDays(1));
    await as("alice", "PATCH", `/v1/upgrades/${id}`, inDays(2));
    await as("bob", "DELETE", `/v1/tasks/${id}`);
    await service.taskWhen(id, "is cancelled", ({ status }) => status === "Cancelled");

    const { startedBy, details, told } = await inTemporal(id);
    expect(startedBy).to.equal("alice");
    expect(details).to.contain("Requested by `alice`");
    await logged(id, "cancelTask bob OPERATOR DONE", "commit by alice");
    expect(told).to.deep.equal([
      "prechecks by bob",
      "commit by bob",
      "commit by alice",
      "record by bob",
      "requested by bob",
    ]);
    expect(await inActivity(id)).to.deep.equal([
      "CREATE alice HTTP ACCEPTED",
      "PRECHECKS bob HTTP ACCEPTED",
      "COMMIT bob HTTP ACCEPTED",
      "RESCHEDULE alice HTTP ACCEPTED",
      "CANCEL bob HTTP ACCEPTED",
    ]);
    expect(asked(id)).to.deep.equal(["prechecks by bob", "commit by bob", "commit by alice"]);
    expect(inAuditTrail(id)).to.deep.equal([
      "startUpgrade alice OPERATOR DONE",
      "runPrechecks bob OPERATOR DONE",
      "updateUpgrade bob OPERATOR DONE",
      "updateUpgrade alice OPERATOR DONE",
      "cancelTask bob OPERATOR DONE",
    ]);
  });

  it("is told of one that is paused, resumed, retried and resolved, and of requests that are refused", async () => {
    await service.fault({ kind: "REMEDIATION_FAILS", host, times: 2, message: "bootbank is too small" });
    const { id } = await as("bob", "POST", "/v1/upgrades", exampleNow("cluster-draft"));
    await service.taskWhen(id, "runs", ({ status }) => status === "In Progress");
    service.token = tokens.get("bob");
    expect((await service.send("POST", `/v1/upgrades/${id}/resume`)).status).to.equal(409);
    await as("alice", "POST", `/v1/upgrades/${id}/pause`);
    await as("bob", "POST", `/v1/upgrades/${id}/resume`);
    const failed = ({ status, resolutionStatus }: Task) => status === "Failed" && resolutionStatus === "UNRESOLVED";
    await service.taskWhen(id, "has failed", failed);
    await as("alice", "PATCH", `/v1/tasks/${id}`);
    await service.taskWhen(id, "has failed again", (task) => failed(task) && (task.errors?.length ?? 0) > 1);
    await as("alice", "POST", `/v1/upgrades/${id}/resolve`);
    service.token = tokens.get("bob");
    expect((await service.send("POST", `/v1/upgrades/${id}/pause`)).status).to.equal(409);

    const { startedBy, told } = await inTemporal(id);
    expect(startedBy).to.equal("bob");
    await logged(id, "pauseUpgrade bob OPERATOR REFUSED", "resolve by alice");
    const requests = ["pause by alice", "resume by bob", "retry by alice", "resolve by alice"];
    expect(told).to.deep.equal(["record by bob", ...requests]);
    expect(asked(id)).to.deep.equal(requests);
    expect(await inActivity(id)).to.deep.equal([
      "CREATE bob HTTP ACCEPTED",
      "RESUME bob HTTP REFUSED REQUEST_NOT_POSSIBLE",
      "PAUSE alice HTTP ACCEPTED",
      "RESUME bob HTTP ACCEPTED",
      "RETRY alice HTTP ACCEPTED",
      "RESOLVE alice HTTP ACCEPTED",
    ]);
    expect(inAuditTrail(id)).to.deep.equal([
      "startUpgrade bob OPERATOR DONE",
      "resumeUpgrade bob OPERATOR REFUSED",
      "pauseUpgrade alice OPERATOR DONE",
      "resumeUpgrade bob OPERATOR DONE",
      "retryTask alice OPERATOR DONE",
      "resolveUpgrade alice OPERATOR DONE",
      "pauseUpgrade bob OPERATOR REFUSED",
    ]);
  });
});
