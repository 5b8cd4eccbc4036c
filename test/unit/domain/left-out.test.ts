import { expect } from "chai";
import { clusterWarning } from "../../../src/domain/task/cluster-leftovers";
import { resourcesOf } from "../../../src/domain/plan/upgrade-plan";
import type { SubTask } from "../../../src/domain/spec/task";
import { leftOutAsHeld, leftOutWarnings, notInScope, skippedByOperator } from "../../../src/domain/task/left-out";
import { countsText } from "../../../src/domain/task/resource-progress";
import { clusters, samplePlan } from "../../support/sample-plan";

const at = "2036-01-01T00:00:00.000Z";

function host(name: string, more: Partial<SubTask>): SubTask {
  return { name, type: "HOST_UPGRADE", description: "", status: "NOT_APPLICABLE", creationTimestamp: at, ...more };
}

describe("Hosts that are left out", () => {
  it("are told with who and why, an error for each reason, apart from hosts that have failed", () => {
    const hosts = [
      host("esx-1", { status: "FAILED", description: "It failed." }),
      host("esx-2", leftOutAsHeld("alice has held it.")),
      host("esx-3", notInScope("9.0.0")),
      ...[4, 5, 6, 7].map((n) => host(`esx-${n}`, skippedByOperator({ reason: "In repair.", by: "bob" }))),
    ];
    const warnings = leftOutWarnings("cl-1", hosts);
    expect(warnings.map(({ errorCode, message }) => [errorCode, message])).to.deep.equal([
      [
        "HOSTS_SKIPPED",
        "4 hosts of cluster cl-1 were left out by operators. esx-4: Left out by bob: In repair. " +
          "esx-5: Left out by bob: In repair. esx-6: Left out by bob: In repair. And 1 more.",
      ],
      ["HOST_HELD", "1 host of cluster cl-1 was left out as held. esx-2: Left out: alice has held it."],
    ]);
    const { errorCode, message } = clusterWarning("cl-1", warnings, []);
    expect(errorCode).to.equal("CLUSTER_LEFT_WITH_WARNINGS");
    expect(message).to.equal(warnings.map((one) => one.message).join(" "));
    expect(leftOutWarnings("cl-1", [hosts[0]!, hosts[2]!])).to.deep.equal([]);
  });

  it("are counted apart from the others", () => {
    const [cluster] = resourcesOf(samplePlan({ resources: clusters(1) }));
    const none = { total: 0, upgraded: 0, skipped: 0, failed: 0, left: 0 };
    const text = (hosts: Parameters<typeof countsText>[1]) => countsText(cluster!, hosts).join(" ");
    expect(text(none)).to.equal("");
    expect(text({ ...none, leftOut: 2 })).to.equal("Left out: 2.");
    expect(text({ total: 4, upgraded: 1, skipped: 1, failed: 1, left: 1, leftOut: 2 })).to.equal(
      "Of 4 hosts 2 are at the target, 1 failed and 1 were not begun. Left out: 2.",
    );
  });
});
