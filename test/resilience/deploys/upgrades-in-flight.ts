import { Context } from "@temporalio/activity";
import type { RemediateHostsInput } from "../../../activities/contract";
import { workerShutdownFailure } from "../../../activities/failures";
import type { HostResult, RemediationResult } from "../../../src/domain/task/host-remediation";
import { eventually } from "../../support/eventually";
import {
  activityFailure,
  allUpgraded,
  failedCheck,
  FakeActivities,
  Gate,
  hostFailure,
  hostProgress,
  type OneHostInput,
  passedCheck,
  type ReplacedActivities,
  upgraded,
} from "../../support/fake-activities";
import { mgmtProgress } from "../../support/fake-mgmt-activities";
import type { RunningUpgrade } from "../../support/running-upgrade";
import { clusters } from "../../support/sample-plan";
import { bundleOf, component, domain } from "../../support/sample-platform";
import type { UpgradeBench } from "../../support/upgrade-bench";

/** An upgrade that a deployment finds in the middle of something. */
export interface SingleFlight {
  readonly upgrade: RunningUpgrade;
  /** What happens to it after the deployment, so that it comes to its end. */
  goOn(): unknown;
  /** How it ends then, as `RunningUpgrade.end` says it; successfully unless told. */
  readonly ends?: string;
  /** False where no host is remediated after the deployment, so that nothing of it passes the newer build's patch. */
  readonly remediatesHosts?: false;
  /** What the component managers were asked to begin, each time, as long as it was not asked for a resumed one. */
  readonly begun: readonly string[];
  /** What that has to be. */
  readonly expected: readonly string[];
}

const twoHosts = ["host-1", "host-2"];
const day = 24 * 60 * 60 * 1000;

/** Ways in which a deployment can find an upgrade; each brings one there. The last ones go on by themselves in 15 seconds. */
export const inFlight: Readonly<Record<string, (bench: UpgradeBench) => Promise<SingleFlight>>> = {
  "a draft whose prechecks run": async (bench) => {
    const [manager, gate] = [new Manager(), new Gate()];
    const fake = manager.with({ runClusterPrechecks: () => gate.pass().then(() => ({ stages: passedCheck() })) });
    const upgrade = await bench.upgrade({ draft: true }, fake);
    await gate.reached;
    const goOn = async () => {
      gate.open();
      await upgrade.untilStatuses("Pending / DRAFT");
      await upgrade.ask("commit");
    };
    return { upgrade, goOn, begun: manager.begun, expected: twoHosts };
  },

  "a draft that waits for its commit": async (bench) => {
    const manager = new Manager();
    const upgrade = await bench.upgrade(
      { draft: true, notifications: [{ id: "chat", retryHours: 24 }] },
      manager.with({}),
    );
    await upgrade.untilStatuses("Pending / DRAFT");
    return {
      upgrade,
      goOn: () => upgrade.ask("commit"),
      begun: manager.begun,
      expected: twoHosts,
    };
  },

  "one that waits for its time": async (bench) => {
    const manager = new Manager();
    const scheduledTimestamp = await bench.inTime(day);
    const resources = clusters(1).map((cluster) => ({ ...cluster, scheduledTimestamp }));
    const upgrade = await bench.upgrade({ resources }, manager.with({}));
    await upgrade.untilStatuses("Pending / SCHEDULED");
    const goOn = () => upgrade.ask("commit", { upgradeNow: true });
    return { upgrade, goOn, begun: manager.begun, expected: twoHosts };
  },

  "a host in work": async (bench) => {
    const manager = new Manager(new Gate());
    const upgrade = await bench.upgrade({}, manager.with({}));
    await manager.gate?.reached;
    return { upgrade, goOn: () => manager.gate?.open(), begun: manager.begun, expected: twoHosts };
  },

  "one that was cancelled and brings a host to a safe end": async (bench) => {
    const [manager, inWork, safeEnd] = [new Manager(), new Gate(), new Gate()];
    const upgrade = await bench.upgrade(
      {},
      manager.with({
        remediateHost: async (input) => {
          const progress = hostProgress(input, 0);
          if (input.stop) {
            await safeEnd.pass(progress);
            throw activityFailure("CANCELLED");
          }
          await manager.remediate(input);
          // Its worker is stopped while it brings the host to a safe end.
          await inWork.pass(progress).catch(() => Promise.reject(workerShutdownFailure({}, progress)));
          return upgraded(input);
        },
      }),
    );
    await inWork.reached;
    await upgrade.handle.cancel();
    await safeEnd.reached;
    return { upgrade, goOn: () => safeEnd.open(), ends: "CANCELLED", begun: manager.begun, expected: ["host-1"] };
  },

  "one that has failed and waits for a retry": async (bench) => {
    const manager = new Manager();
    const upgrade = await bench.upgrade(
      {},
      manager.with({
        remediateHost: async (input) => {
          const result = await manager.remediate(input);
          if (manager.begun.length === 2) throw hostFailure(input);
          return result;
        },
      }),
    );
    await upgrade.untilStatuses("Failed / COMPLETED_WITH_FAILURE");
    return {
      upgrade,
      goOn: () => upgrade.ask("retry"),
      begun: manager.begun,
      expected: [...twoHosts, "host-2"],
    };
  },

  "several clusters that wait for a retry": async (bench) => {
    const manager = new Manager();
    let stages = failedCheck();
    const upgrade = await bench.upgrade(
      { resources: clusters(3) },
      manager.with({ runClusterPrechecks: () => Promise.resolve({ stages }) }),
    );
    await upgrade.untilStatuses("Failed / COMPLETED_WITH_FAILURE");
    const goOn = () => {
      stages = passedCheck();
      return upgrade.ask("retry");
    };
    return {
      upgrade,
      goOn,
      begun: manager.begun,
      expected: [...twoHosts, ...twoHosts, ...twoHosts],
    };
  },

  "several hosts with options of their own": async (bench) => {
    const manager = new Manager(new Gate());
    const hostosUpgradeOptionsSpec = { preRemediationPowerAction: "POWER_OFF_VMS", disableHac: true } as const;
    const resources = clusters(1).map((resource) => ({ ...resource, hostosUpgradeOptionsSpec }));
    const upgrade = await bench.upgrade({ resources, rollout: { hostsAtOnce: 2 } }, manager.with({}));
    await manager.gate?.reached;
    return {
      upgrade,
      goOn: () => manager.gate?.open(),
      begun: manager.begun,
      expected: twoHosts,
    };
  },

  "a NETVIRT component in work": async (bench) => {
    const [manager, gate] = [new Manager(), new Gate()];
    const { resources, installations } = domain();
    const begun: string[] = [];
    const upgrade = await bench.upgrade(
      { resources, installations, bundle: bundleOf(component("NETVIRT")) },
      manager.with({
        upgradeNetvirtComponent: async (input) => {
          if (!input.resume) begun.push(input.component);
          await gate.pass({ component: input.component, reportedFailures: 0, activity: "", percent: 50, nodes: [] });
          return { component: input.component, outcome: "UPGRADED" };
        },
      }),
    );
    await gate.reached;
    const expected = ["EDGE", "HOST", "MP", "FINALIZE_UPGRADE"];
    return { upgrade, remediatesHosts: false, goOn: () => gate.open(), begun, expected };
  },

  "a management server that is being updated": async (bench) => {
    const [manager, begun, gate] = [new Manager(), [] as string[], new Gate()];
    const { resources, installations } = domain();
    const upgrade = await bench.upgrade(
      {
        resources,
        installations,
        bundle: bundleOf(component("MGMT")),
        inputs: { mgmtUpgradeUserInputSpecs: [{ upgradeMechanism: "InPlace" }] },
      },
      manager.with({
        stageMgmtUpdate: async () => void begun.push("stage"),
        installMgmtUpdate: async ({ resume, targetVersion }) => {
          if (!resume) begun.push("install");
          await gate.pass(mgmtProgress());
          return { version: targetVersion };
        },
      }),
    );
    await gate.reached;
    return { upgrade, remediatesHosts: false, goOn: () => gate.open(), begun, expected: ["stage", "install"] };
  },

  "one that is paused": async (bench) => {
    const manager = new Manager(new Gate());
    const upgrade = await bench.upgrade({}, manager.with({}));
    await manager.gate?.reached;
    await upgrade.ask("pause");
    await eventually(
      () => upgrade.subTask(),
      ({ description }) => description.startsWith("Paused: "),
    );
    manager.gate?.open();
    await eventually(
      () => upgrade.hosts(),
      ([first]) => first === "SUCCESSFUL",
    );
    return { upgrade, goOn: () => upgrade.ask("resume"), begun: manager.begun, expected: twoHosts };
  },

  "a management server that waits for its switchover": async (bench) => {
    const [manager, begun] = [new Manager(), [] as string[]];
    const { resources, installations } = domain();
    const startSwitchoverTimestamp = await bench.inTime(20_000);
    const migration = { upgradeMechanism: "ReducedDowntimeMigration", startSwitchoverTimestamp } as const;
    const upgrade = await bench.upgrade(
      {
        resources,
        installations,
        bundle: bundleOf(component("MGMT")),
        inputs: { mgmtUpgradeUserInputSpecs: [migration] },
      },
      manager.with({
        prepareMgmtMigration: async () => void begun.push("prepare"),
        switchOverMgmtMigration: async ({ targetVersion }) => {
          begun.push("switch over");
          return { version: targetVersion };
        },
      }),
    );
    await eventually(
      () => upgrade.subTask(),
      ({ description }) => description.startsWith("Prepared."),
    );
    return { upgrade, remediatesHosts: false, goOn: () => undefined, begun, expected: ["prepare", "switch over"] };
  },

  "the time between two hosts": async (bench) => {
    const manager = new Manager();
    const upgrade = await bench.upgrade({ rollout: { soakSeconds: 15 } }, manager.with({}));
    await eventually(
      () => upgrade.hosts(),
      ([first]) => first === "SUCCESSFUL",
    );
    return { upgrade, goOn: () => undefined, begun: manager.begun, expected: twoHosts };
  },

  "a host that waits for its next attempt": async (bench) => {
    const manager = new Manager();
    const hostosUpgradeFailureAction = { action: "RETRY", retryCount: 1, retryDelay: 15 } as const;
    const resources = clusters(1).map((one) => ({ ...one, hostosUpgradeOptionsSpec: { hostosUpgradeFailureAction } }));
    const attempted = new Gate();
    attempted.open();
    const upgrade = await bench.upgrade(
      { resources },
      manager.with({
        remediateHost: async (input) => {
          const result = await manager.remediate(input);
          if (manager.begun.length > 1) return result;
          await attempted.pass();
          throw hostFailure(input);
        },
      }),
    );
    await attempted.reached;
    return { upgrade, goOn: () => undefined, begun: manager.begun, expected: ["host-1", ...twoHosts] };
  },
};

/** A component manager that counts what it is asked to begin: what is resumed has been begun before. */
export class Manager {
  readonly begun: string[] = [];

  /** Hosts in work stay at the gate. */
  constructor(readonly gate?: Gate) {}

  /** Activities on two hosts of each cluster. */
  with(replaced: ReplacedActivities): FakeActivities {
    const remediate: ReplacedActivities = {
      remediateHost: (input) => this.remediate(input),
      remediateHosts: (input) => this.remediateTogether(input),
    };
    return new FakeActivities({ ...remediate, ...replaced }, twoHosts.length);
  }

  async remediate(input: OneHostInput): Promise<HostResult> {
    this.begin(input, [input.host.host]);
    await this.gate?.pass({ ...hostProgress(input, 0), remoteTask: `task-${input.host.host}` });
    return upgraded(input);
  }

  private async remediateTogether(input: RemediateHostsInput): Promise<RemediationResult> {
    const hosts = input.hosts.map(({ host }) => host);
    this.begin(input, hosts);
    await this.gate?.pass({ ...hostProgress(input, 0), remoteTask: "task-hosts" });
    return allUpgraded(input);
  }

  /** A run that attaches to what an earlier one has begun begins nothing. */
  private begin({ resume }: { readonly resume?: unknown }, hosts: readonly string[]): void {
    if (resume === undefined && Context.current().info.heartbeatDetails === undefined) this.begun.push(...hosts);
  }
}
