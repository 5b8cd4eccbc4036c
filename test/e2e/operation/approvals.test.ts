import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { expect } from "chai";
import { hashPassword } from "../../../src/authentication/users";
import type { PageOfActivity } from "../../../src/domain/activity/upgrade-activity";
import type { ErrorBody } from "../../../src/domain/errors";
import type { UpgradePreview } from "../../../src/domain/plan/preview";
import type { Upgrade } from "../../../src/domain/spec/upgrade";
import { ConfigWithReceiver } from "../../support/config-with-receiver";
import { type LogLine, until } from "../../support/service/deployment";
import { example, exampleNow } from "../../support/service/examples";
import { ServiceUnderTest } from "../../support/service/service-under-test";

const users = { alice: "OPERATOR", olga: "OPERATOR", bob: "APPROVER", carol: "APPROVER", adam: "ADMIN" } as const;
type Name = keyof typeof users;
type Line = LogLine & Readonly<Record<string, unknown>>;

const password = "a password of all";

describe("approvals of upgrades", function () {
  this.timeout(180_000);
  const config = new ConfigWithReceiver("no-secret");
  let service: ServiceUnderTest;
  const tokens = new Map<Name, string>();

  before(async () => {
    const inventory = readFileSync(config.inventory, "utf8");
    const wanting = inventory.replace("    name: Frankfurt 1\n", "$&    approvals: { required: 2 }\n");
    expect(wanting).not.to.equal(inventory);
    writeFileSync(config.inventory, wanting);
    const hash = await hashPassword(password);
    const entries = Object.entries(users).map(([username, role]) => ({ username, role, password: hash }));
    service = await ServiceUnderTest.start({
      SIMULATOR_HOST_SECONDS: "1",
      POLL_MIN_MILLISECONDS: "50",
      INVENTORY_FILE: config.inventory,
      AUTH_MODE: "local",
      AUTH_USERS_FILE: config.write("users.yaml", JSON.stringify({ users: entries })),
      AUTH_SIGNING_KEY_FILE: config.write("signing-key.txt", randomBytes(48).toString("base64")),
    });
    for (const username of Object.keys(users) as Name[]) {
      const { body } = await service.post<{ accessToken: string }>("/v1/tokens", { username, password });
      tokens.set(username, body.accessToken);
    }
  });
  after(async () => {
    await service.discard();
    config.discard();
  });
  beforeEach(() => service.resetSimulator());

  /** The status of an answer, with the code of an error. */
  async function as(name: Name, path: string, body?: unknown): Promise<string> {
    service.token = tokens.get(name);
    const answer = await service.send<Partial<ErrorBody>>("POST", path, body);
    return [answer.status, answer.body.nestedErrors?.[0]?.errorCode ?? answer.body.errorCode].join(" ").trim();
  }
  const read = async (id: string) => (await service.get<Upgrade>(`/v1/upgrades/${id}`)).body;
  const untilPhase = (id: string, phase: string) =>
    until(`${id} is ${phase}`, async () => (await read(id)).phase === phase);

  it("are given by two persons with the role, never by who asked, and begin the upgrade", async () => {
    service.token = tokens.get("alice");
    const spec = exampleNow("cluster-draft");
    const preview = await service.send<UpgradePreview>("POST", "/v1/upgrades/preview", spec);
    expect(preview.body.requiredApprovals).to.equal(2);
    const { id } = await service.startUpgrade({ ...spec, changeId: "CHG1" });
    await untilPhase(id, "ACTION_REQUIRED");
    expect((await read(id)).waitingFor).to.include({ code: "APPROVAL", message: "It waits for 2 approvals of 2." });
    expect(await as("olga", `/v1/upgrades/${id}/approve`)).to.equal("403 ROLE_REQUIRED");
    expect(await as("bob", `/v1/upgrades/${id}/approve`, { coment: "typo" })).to.equal("400 UNKNOWN_FIELD");
    expect(await as("bob", `/v1/upgrades/${id}/approve`, { comment: "Agreed" })).to.equal("200");
    expect(await as("bob", `/v1/upgrades/${id}/approve`)).to.equal("409 REQUEST_NOT_POSSIBLE");
    expect((await read(id)).phase).to.equal("ACTION_REQUIRED");
    expect(await as("adam", `/v1/upgrades/${id}/approve`)).to.equal("200");
    await service.taskWhen(id, "is successful", ({ status }) => status === "Successful");
    const { approvals } = await read(id);
    expect(approvals?.given.map(({ by, comment }) => [by, comment])).to.deep.equal([
      ["bob", "Agreed"],
      ["adam", undefined],
    ]);
    const { body } = await service.get<PageOfActivity>(`/v1/upgrades/${id}/activity`);
    expect(
      (body.elements ?? []).filter(({ kind }) => kind === "APPROVE").map(({ actor, outcome }) => [actor, outcome]),
    ).to.deep.equal([
      ["bob", "ACCEPTED"],
      ["bob", "REFUSED"],
      ["adam", "ACCEPTED"],
    ]);
    const audited = (service.log("api") as Line[]).filter(
      (line) => line["action"] === "approveUpgrade" && line["upgradeId"] === id && line["outcome"] === "DONE",
    );
    expect(audited.map((line) => [line["caller"], line["changeId"]])).to.deep.equal([
      ["bob", "CHG1"],
      ["adam", "CHG1"],
    ]);
  });

  it("cannot be given by an approver for an upgrade of his own, and one rejection ends it", async () => {
    service.token = tokens.get("carol");
    const { id } = await service.startUpgrade(example("cluster-draft"));
    await untilPhase(id, "DRAFT_READY");
    expect(await as("carol", `/v1/upgrades/${id}/approve`)).to.equal("403 APPROVAL_BY_REQUESTER");
    expect(await as("bob", `/v1/upgrades/${id}/reject`, {})).to.equal("400 MISSING_FIELD");
    expect(await as("bob", `/v1/upgrades/${id}/reject`, { comment: "Not this week" })).to.equal("200");
    const task = await service.taskWhen(id, "is cancelled", ({ status }) => status === "Cancelled");
    expect(task.errors?.map(({ errorCode, message }) => [errorCode, message])).to.deep.equal([
      ["UPGRADE_REJECTED", "bob rejected the upgrade: Not this week"],
    ]);
    expect(await as("bob", `/v1/upgrades/${id}/approve`)).to.equal("409 REQUEST_NOT_POSSIBLE");
  });
});
