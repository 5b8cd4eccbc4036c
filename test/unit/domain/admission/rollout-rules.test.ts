import { expect } from "chai";
import * as E from "fp-ts/Either";
import { rolloutWithinPolicy } from "../../../../src/domain/admission/rollout-rules";
import type { ResourceUpgradeSpec, RolloutSpec } from "../../../../src/domain/spec/upgrade-spec";
import { admissionRequest, refusals } from "./admission-request";

const policy = { hostsAtOnce: 4, soakSeconds: 60, healthGate: true, toleratedFailures: 2 };
const changes = (rollout: RolloutSpec, more: Partial<ResourceUpgradeSpec> = {}) => ({
  resources: [{ rollout, ...more }],
  cluster: { rollout: policy, hostCount: 20 },
});
const asked = (rollout: RolloutSpec) => refusals(rolloutWithinPolicy, changes(rollout));
const refusal = (field: string) => `NOT_ALLOWED ROLLOUT_BEYOND_POLICY resourceUpgradeSpecs[0].rollout.${field}`;

describe("rolloutWithinPolicy", () => {
  it("admits the policy itself, and what is more careful", () => {
    for (const rollout of [
      {},
      { hostsAtOnce: 4, soakSeconds: 60, toleratedFailures: 2 },
      { hostsAtOnce: 1, soakSeconds: 61, toleratedFailures: 0 },
      { toleratedFailures: "10%" },
      // Two and a little more: rounded down.
      { toleratedFailures: "14%" },
    ])
      expect(asked(rollout), JSON.stringify(rollout)).to.deep.equal([]);
    expect(refusals(rolloutWithinPolicy, { resources: [{}] })).to.deep.equal([]);
  });

  it("refuses more hosts at once, a shorter soak time and more failures, each at its field", () => {
    expect(asked({ hostsAtOnce: 5, soakSeconds: 59, toleratedFailures: 3 })).to.deep.equal(
      ["hostsAtOnce", "soakSeconds", "toleratedFailures"].map(refusal),
    );
    expect(asked({ toleratedFailures: "15%" })).to.deep.equal([refusal("toleratedFailures")]);
  });

  it("names the limit, what was asked for, and where the limit is from", () => {
    const [soak] = rolloutWithinPolicy(admissionRequest(changes({ soakSeconds: 0 })));
    expect(soak?.message).to.contain("limits soakSeconds to at least 60;").and.to.contain("asks for 0");
    const [failures] = rolloutWithinPolicy(admissionRequest(changes({ toleratedFailures: "50%" })));
    expect(failures?.message).to.contain("limits toleratedFailures to at most 2;").and.to.contain("asks for 50%");
    expect(failures?.remediation).to.contain("rollout.toleratedFailures");
  });

  it("takes a percentage of the hosts in scope", () => {
    const members = Array.from({ length: 20 }, (_, i) => ({ id: `host-${i}`, fqdn: `esx-${i}.example.com` }));
    const scoped = (hosts: NonNullable<ResourceUpgradeSpec["hosts"]>) =>
      refusals(rolloutWithinPolicy, {
        ...changes({ toleratedFailures: "30%" }, { hosts }),
        hosts: new Map([["c0", E.right(members)]]),
      });
    const some = members.slice(0, 9).map(({ id }) => id);
    expect(scoped({ include: some })).to.deep.equal([]);
    expect(scoped({ exclude: some })).to.deep.equal([refusal("toleratedFailures")]);
  });
});
