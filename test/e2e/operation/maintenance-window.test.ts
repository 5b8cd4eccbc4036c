import { readFileSync, writeFileSync } from "node:fs";
import { expect } from "chai";
import type { PageOfActivity } from "../../../src/domain/activity/upgrade-activity";
import type { Cluster } from "../../../src/domain/spec/cluster";
import type { Upgrade } from "../../../src/domain/spec/upgrade";
import { ConfigWithReceiver } from "../../support/config-with-receiver";
import { type LogLine, until } from "../../support/service/deployment";
import { exampleNow } from "../../support/service/examples";
import { ServiceUnderTest } from "../../support/service/service-under-test";

type Line = LogLine & Readonly<Record<string, unknown>>;

describe("a maintenance window", function () {
  this.timeout(180_000);
  const config = new ConfigWithReceiver("no-secret");
  let service: ServiceUnderTest;
  let opensAt: number;

  before(async () => {
    // The service takes some seconds to start, and the upgrade some to be accepted.
    opensAt = Math.ceil(Date.now() / 1000 + 25) * 1000;
    const start = new Date(opensAt).toISOString().slice(11, 19);
    const inventory = readFileSync(config.inventory, "utf8");
    const windows = `maintenanceWindows: [{id: nights, timeZone: Etc/UTC, recurrence: FREQ=DAILY, start: "${start}", duration: PT1H}]\n`;
    const fair = `freezes: [{id: fair, from: "2020-01-01T00:00:00Z", until: "2099-01-01T00:00:00Z", reason: Fair, domains: [ams1]}]\n`;
    const named = inventory.replace("    name: Frankfurt 1\n", "$&    maintenanceWindow: nights\n");
    expect(named).not.to.equal(inventory);
    writeFileSync(config.inventory, windows + fair + named);
    service = await ServiceUnderTest.start({
      SIMULATOR_HOST_SECONDS: "0.4",
      POLL_MIN_MILLISECONDS: "50",
      INVENTORY_FILE: config.inventory,
    });
  });
  after(async () => {
    await service.discard();
    config.discard();
  });

  it("keeps an upgrade from beginning until it opens, also where the worker is killed meanwhile", async () => {
    const body = { ...exampleNow("cluster-draft"), draftMode: false };
    const [resource] = body.resourceUpgradeSpecs;
    const { body: cluster } = await service.get<Cluster>(`/v1/clusters/${resource?.resourceId}`);
    const opening = new Date(opensAt).toISOString();
    expect(cluster.maintenance).to.deep.equal({ isOpen: false, window: "nights", opensAt: opening });

    const { id } = await service.startUpgrade(body);
    const read = async () => (await service.get<Upgrade>(`/v1/upgrades/${id}`)).body;
    await until("it waits for the window", async () => {
      const { phase, waitingFor } = await read();
      return phase === "WAITING" && waitingFor?.code === "WINDOW";
    });
    expect((await read()).waitingFor?.message).to.equal(`Outside maintenance window nights. It begins at ${opening}.`);
    await service.killAndAwaitSuccessor("worker");
    expect(await service.ledger()).to.deep.equal([]);

    const ended = await service.taskWhen(id, "has ended", ({ status }) => !/Pending|In Progress/.test(status), 90);
    expect(ended.status).to.equal("Successful");
    expect((await read()).startedAt).to.satisfy((at: string) => Date.parse(at) >= opensAt);
    const { body: activity } = await service.get<PageOfActivity>(`/v1/upgrades/${id}/activity`);
    const kinds = (activity.elements ?? []).map(({ kind }) => kind);
    expect(kinds).to.include.members(["WINDOW_CLOSED", "WINDOW_OPENED"]);
  });

  it("is waited for no more where an override comes meanwhile, which the audit trail has", async () => {
    const { id } = await service.startUpgrade({
      ...exampleNow("cluster-draft"),
      draftMode: false,
      resourceUpgradeSpecs: [{ resourceId: "4a6c1a1e-51b2-4d3c-9e0f-000000000047", upgradeNow: true }],
    });
    const path = `/v1/upgrades/${id}`;
    await until("it waits for the end of the freeze of the inventory", async () => {
      const { phase, waitingFor } = (await service.get<Upgrade>(path)).body;
      return phase === "WAITING" && waitingFor?.message.includes("fair: Fair") === true;
    });
    const time = { maintenanceWindow: "IGNORE", reason: "CVE-2026-1", upgradeNow: true };
    expect((await service.send("PATCH", path, time)).status, "it has begun, and takes no time").to.equal(409);
    const { upgradeNow: _, ...override } = time;
    const answer = await service.send<Upgrade>("PATCH", path, override);
    expect(answer.status).to.equal(200);
    expect(answer.body.maintenanceOverride).to.include({ reason: "CVE-2026-1" });
    const ended = await service.taskWhen(id, "has ended", ({ status }) => !/Pending|In Progress/.test(status), 90);
    expect(ended.status).to.equal("Successful");
    expect(ended.maintenanceOverride?.reason).to.equal("CVE-2026-1");
    const audited = (service.log("api") as Line[]).filter(
      (line) => line["event"] === "audit" && line["upgradeId"] === id && line["maintenanceWindow"] === "IGNORE",
    );
    expect(audited.map((line) => line["status"])).to.deep.equal([200]);
    expect(audited[0]?.["maintenanceOverride"]).to.include({ reason: "CVE-2026-1" });
  });
});
