import { expect } from "chai";
import type { NetvirtTarget } from "../../../activities/contract";
import { netvirtComponentOrder } from "../../../src/domain/task/netvirt-upgrade";
import {
  groups,
  type SimulatedNetvirt,
  simulateNetvirt,
  start,
  targetVersion,
} from "../../unit/activities/simulated-netvirt";
import { nsxContract } from "./nsx-contract";
import { startValidatingProxy, type ValidatingProxy } from "./validating-proxy";

const root = "/nsx/nsx-01";

describe("the NETVIRT driver against its contract", function () {
  this.timeout(30_000);
  let netvirt: SimulatedNetvirt;
  let proxy: ValidatingProxy;

  beforeEach(async () => {
    netvirt = await simulateNetvirt();
    await netvirt.hostSeconds(0.3);
    proxy = await startValidatingProxy({ target: `${netvirt.url}${root}`, document: nsxContract() });
  });
  afterEach(async () => {
    await proxy.close();
    await netvirt.close();
  });

  /** The proxy stands for the manager itself, whose API begins at the root. */
  const activities = () => netvirt.activities({}, proxy.url, "");
  const called = (call: RegExp) => proxy.calls.some((made) => call.test(made));
  const attempts = { maximumAttempts: 3, retryDelay: 0 };
  async function succeed<A>(activity: () => Promise<A>): Promise<A> {
    const { result, error } = await start(activity).end;
    if (error) throw error instanceof Error ? error : new Error(String(error));
    return result as A;
  }

  it("keeps to it from the first precheck to the finalization, with every option", async () => {
    const target: NetvirtTarget = {
      ...netvirt.target,
      options: {
        edgeOnly: false,
        hostClustersParallel: false,
        edgeClustersParallel: false,
        hostClusters: [
          { id: groups.hosts1, parallel: true, liveUpgrade: true },
          { id: groups.hosts2, parallel: true, liveUpgrade: false },
        ],
        edgeClusters: [
          { id: groups.edge1, parallel: true },
          { id: groups.edge2, parallel: true },
        ],
      },
    };
    const { stages } = await succeed(() => activities().runNetvirtPrechecks(target));
    expect(stages.filter(({ status }) => status !== "SUCCESSFUL")).to.deep.equal([]);
    const { previous } = await succeed(() => activities().readNetvirtUpgrade(target));
    await succeed(() => activities().putNetvirtSettings({ ...target, previous }));
    for (const component of netvirtComponentOrder(targetVersion, false)) {
      const input = { ...target, component, attempts };
      expect(await succeed(() => activities().upgradeNetvirtComponent(input))).to.include({ outcome: "UPGRADED" });
    }
    await succeed(() => activities().restoreNetvirtSettings({ ...target, previous }));

    const units = (await netvirt.manager()).groups.flatMap((group) => group.units);
    expect(new Set(units.map(({ version }) => version))).to.deep.equal(new Set([targetVersion]));
    expect(proxy.violations).to.deep.equal([]);
    for (const call of [
      /POST .*action=execute_pre_upgrade_checks/,
      /GET .*pre-upgrade-checks\/failures/,
      /PUT .*plan\/HOST\/settings/,
      /PUT .*upgrade-unit-groups\/hosts-1$/,
      /POST .*plan\?action=start&component_type=FINALIZE_UPGRADE/,
      /upgrade-unit-groups\/edge-1\/status/,
      /upgrade-unit-groups-status\?component_type=HOST/,
    ]) {
      expect(called(call), String(call)).to.equal(true);
    }
  });

  it("keeps to it with a coordinator of 9.1, which has one action for start and continue", async () => {
    const newer = "9.1.0.0.25100000";
    const manager = await simulateNetvirt({ targetVersion: newer });
    const between = await startValidatingProxy({ target: `${manager.url}${root}`, document: nsxContract() });
    try {
      const target = { ...manager.target, targetVersion: newer, component: "MP" as const, attempts };
      await succeed(() => manager.activities({}, between.url, "").upgradeNetvirtComponent(target));
      expect(between.violations).to.deep.equal([]);
      expect(between.calls.some((call) => call.endsWith("plan?action=upgrade&component_type=MP"))).to.equal(true);
    } finally {
      await between.close();
      await manager.close();
    }
  });

  it("keeps to it when things go wrong", async () => {
    const input = { ...netvirt.target, component: "HOST" as const, attempts };
    await netvirt.fault({ kind: "NSX_PRECHECKS_RUNNING", times: 1 });
    await succeed(() => activities().runNetvirtPrechecks(netvirt.target));
    const { previous } = await succeed(() => activities().readNetvirtUpgrade(netvirt.target));
    await netvirt.fault({ kind: "NSX_REVISION_STALE", times: 1 });
    const target = { ...netvirt.target, options: { edgeOnly: false, hostClusters: [{ id: groups.hosts1 }] } };
    await succeed(() => activities().putNetvirtSettings({ ...target, previous }));

    await netvirt.fault({ kind: "NSX_STILL_IN_PROGRESS", times: 2 });
    await netvirt.fault({ kind: "CONNECTION_DROPPED", method: "POST", path: "/plan", times: 1 });
    const { id } = await netvirt.fault({ kind: "NSX_NODE_FAILS", node: "esx-01.example.com", times: 1 });
    const failed = await start(() => activities().upgradeNetvirtComponent(input)).end;
    await netvirt.repair(id);
    await netvirt.hostSeconds(2);
    const info = { attempt: 2, heartbeatDetails: failed.heartbeats.at(-1) };
    const run = start(() => activities().upgradeNetvirtComponent(input), info);
    await run.until(({ nodes }) => nodes.some(({ status }) => status === "IN_PROGRESS"));
    await netvirt.fault({ kind: "SERVICE_UNAVAILABLE", times: 1 });
    run.environment.cancel();
    await run.end;
    expect((await netvirt.manager()).components.find(({ type }) => type === "HOST")?.status).to.equal("PAUSED");

    await netvirt.fault({ kind: "NSX_ACCOUNT_REFUSED", times: 1 });
    await start(() => activities().upgradeNetvirtComponent(input)).end;
    expect(proxy.violations).to.deep.equal([]);
    for (const call of [/action=continue&component_type=HOST/, /action=pause$/]) {
      expect(called(call), String(call)).to.equal(true);
    }
  });
});
