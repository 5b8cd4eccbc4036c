import { expect } from "chai";
import { vim25HostMaintenance } from "../../../activities/baseline/vim25-host-maintenance";
import { createVim25Client, type Vim25Client } from "../../../activities/drivers/vim25/vim25-client";
import { recentMaintenance, type RecentMaintenance } from "../../../activities/hostos/recent-maintenance";
import { createPatience } from "../../../activities/patience";
import { quickLimits, simulateCluster, type SimulatedCluster } from "./simulated-cluster";

describe("maintenance mode between two hosts of one run", () => {
  const patience = createPatience(quickLimits, { interruption: () => undefined });
  let cluster: SimulatedCluster;
  let client: Vim25Client;
  let hosts: string[];
  let asked: string[];

  beforeEach(async () => {
    cluster = await simulateCluster("IMAGE", { hosts: 3 });
    hosts = (await cluster.state()).hosts.map(({ id }) => id);
    const access = { id: "vc-01", url: cluster.url, username: "svc", password: "secret" };
    client = createVim25Client(access, { callTimeout: quickLimits.callTimeout });
    asked = [];
  });
  afterEach(async () => {
    await client.close();
    await cluster.close();
  });

  const place = (index: number) => hosts[index] ?? "";
  function remembering(recent: number): RecentMaintenance {
    const counted: Vim25Client = {
      ...client,
      listHostModes: (of) => {
        asked.push(of);
        return client.listHostModes(of);
      },
      readHostMode: (host) => {
        asked.push(host);
        return client.readHostMode(host);
      },
    };
    return recentMaintenance(vim25HostMaintenance({ client: counted, limits: quickLimits }), recent);
  }
  const inside = async ({ maintenance }: RecentMaintenance) => [
    ...(await maintenance.inMaintenance("domain-c8", patience)),
  ];

  it("is asked for of all hosts once, then of those that have moved", async () => {
    const recent = remembering(60_000);
    expect(await inside(recent)).to.deep.equal([]);
    recent.moved(place(0));
    expect(await inside(recent)).to.deep.equal([]);
    expect(await inside(recent)).to.deep.equal([]);
    expect(asked).to.deep.equal(["domain-c8", place(0)]);
  });

  it("tells of a host that has moved into it, and of one that has moved out of it", async () => {
    const recent = remembering(60_000);
    await cluster.put(place(1), "IN");
    expect(await inside(recent)).to.deep.equal([place(1)]);
    await cluster.put(place(0), "IN");
    await cluster.put(place(1), "OUT");
    recent.moved(place(0));
    recent.moved(place(1));
    expect(await inside(recent)).to.deep.equal([place(0)]);
    expect(await inside(recent)).to.deep.equal([place(0)]);
  });

  it("is asked for again of a host of which nothing was told", async () => {
    const recent = remembering(60_000);
    await inside(recent);
    recent.moved(place(0));
    await cluster.put(place(0), "IN");
    await cluster.fault({ kind: "SERVICE_UNAVAILABLE" });
    const hasty = createPatience({ ...quickLimits, outage: 0 }, { interruption: () => undefined });
    const failed = await recent.maintenance.inMaintenance("domain-c8", hasty).catch(() => "failed");
    expect(failed).to.equal("failed");
    await cluster.repair();
    expect(await inside(recent)).to.deep.equal([place(0)]);
  });

  it("is asked for of all hosts so long after it was, however often of single ones in between", async () => {
    const { now } = Date;
    const began = now();
    let passed = 0;
    Date.now = () => began + passed;
    try {
      const recent = remembering(1_000);
      await inside(recent);
      passed += 900;
      recent.moved(place(0));
      await inside(recent);
      await cluster.put(place(2), "IN");
      passed += 200;
      expect(await inside(recent)).to.deep.equal([place(2)]);
      expect(asked).to.deep.equal(["domain-c8", place(0), "domain-c8"]);
    } finally {
      Date.now = now;
    }
  });

  it("is asked for of all hosts again when that is too long ago", async () => {
    const recent = remembering(0);
    await inside(recent);
    await cluster.put(place(2), "IN");
    expect(await inside(recent)).to.deep.equal([place(2)]);
    expect(asked).to.deep.equal(["domain-c8", "domain-c8"]);
  });
});
