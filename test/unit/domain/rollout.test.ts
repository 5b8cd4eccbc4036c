import { expect } from "chai";
import { type ClusterKind, clustersOf, ownOptionsOf, rolloutOf } from "../../../src/domain/plan/upgrade-plan";
import type { RolloutSpec } from "../../../src/domain/spec/upgrade-spec";
import type { HostRemediationOptions } from "../../../src/domain/task/host-remediation";
import { clusters, sampleCluster, samplePlan } from "../../support/sample-plan";

function planned(options: HostRemediationOptions, hostsAtOnce = 2, kind: ClusterKind = "IMAGE") {
  const resources = clusters(1).map((resource) => ({ ...resource, hostosUpgradeOptionsSpec: options }));
  const [cluster] = clustersOf(samplePlan({ resources, kinds: [kind], rollout: { hostsAtOnce } }));
  if (!cluster) throw new Error("the plan has no cluster");
  return cluster;
}

const others = {
  enableQuickboot: true,
  enableQuickPatch: true,
  evacuateOfflineVms: true,
  enforceHclValidation: true,
} as const;

describe("ownOptionsOf", () => {
  it("are what the product does only on hosts that it empties, where it takes several together", () => {
    const own = { preRemediationPowerAction: "POWER_OFF_VMS", disableHac: true, disableDpm: true } as const;
    expect(ownOptionsOf(planned({ ...own, ...others }))).to.deep.equal(own);
    for (const options of [
      { disableHac: true },
      { disableDpm: true },
      { preRemediationPowerAction: "SUSPEND_VMS" },
    ] as const)
      expect(ownOptionsOf(planned({ ...options, ...others }))).to.deep.equal(options);
  });

  it("are none where nothing of that is asked for, one host goes after another, or the cluster has no image", () => {
    const asked = { preRemediationPowerAction: "POWER_OFF_VMS", disableHac: true } as const;
    const notAsked = { preRemediationPowerAction: "DO_NOT_CHANGE_VMS_POWER_STATE", disableHac: false } as const;
    expect(ownOptionsOf(planned({ ...notAsked, ...others }))).to.equal(undefined);
    expect(ownOptionsOf(planned(asked, 1))).to.equal(undefined);
    expect(ownOptionsOf(planned({ disableHac: true }, 2, "BASELINE"))).to.equal(undefined);
  });
});

describe("the rollout that a request asks for", () => {
  const policy = { hostsAtOnce: 4, soakSeconds: 60, healthGate: true, toleratedFailures: 3 };
  const planOf = (rollout: RolloutSpec) => {
    const resources = clusters(1).map((resource) => ({ ...resource, rollout }));
    return clustersOf(samplePlan({ resources, rollout: policy }))[0]?.rollout;
  };

  it("takes the place of the policy, field by field", () => {
    expect(planOf({})).to.deep.equal(policy);
    expect(planOf({ hostsAtOnce: 1, soakSeconds: 90 })).to.deep.equal({ ...policy, hostsAtOnce: 1, soakSeconds: 90 });
    expect(planOf({ toleratedFailures: 0 })).to.deep.equal({ ...policy, toleratedFailures: 0 });
  });

  it("has a percentage as a number of hosts, rounded down", () => {
    const { hostCount } = sampleCluster("c0");
    expect(planOf({ toleratedFailures: "50%" })?.toleratedFailures).to.equal(Math.floor(hostCount / 2));
    expect(planOf({ toleratedFailures: "1%" })?.toleratedFailures).to.equal(0);
  });
});

describe("rolloutOf", () => {
  it("takes hosts one by one where only their own remediation can suspend to memory, and says so of nothing else", () => {
    expect(
      rolloutOf(planned({ preRemediationPowerAction: "SUSPEND_VMS_TO_MEMORY", disableHac: true }, 3)),
    ).to.deep.include({ hostsAtOnce: 1, toleratedFailures: 0 });
    expect(ownOptionsOf(planned({ preRemediationPowerAction: "SUSPEND_VMS_TO_MEMORY", disableHac: true }))).to.equal(
      undefined,
    );
    expect(rolloutOf(planned({ preRemediationPowerAction: "SUSPEND_VMS" }, 3)).hostsAtOnce).to.equal(3);
  });
});
