import { expect } from "chai";
import fc from "fast-check";
import { UpgradeStatus } from "../../../src/domain/upgrade-status";
import { locksQuery, upgradesQuery } from "../../../src/temporal/visibility-query";

/** The string literals of a query, as the server reads them, and what stands between them. */
function parsed(query: string): { literals: string[]; rest: string } {
  const literals: string[] = [];
  const rest = query.replaceAll(/'((?:[^'\\]|\\.)*)'/gs, (_, literal: string) => {
    literals.push(literal.replaceAll(/\\(.)/gs, "$1"));
    return "?";
  });
  return { literals, rest };
}

describe("upgradesQuery", () => {
  it("asks for upgrades, not for the Workflows of their resources", () => {
    expect(upgradesQuery({})).to.equal("WorkflowType = 'upgradeWorkflow'");
  });

  it("joins the filters", () => {
    expect(upgradesQuery({ status: "CANCELLED", bundleId: "b", bundleType: "HCI" })).to.equal(
      "WorkflowType = 'upgradeWorkflow' AND UpgradeStatus = 'CANCELLED' AND BundleId = 'b' AND BundleType = 'HCI'",
    );
  });

  it("believes a status that says that work goes on only of a Workflow that runs", () => {
    for (const status of ["PENDING", "DRAFT", "SCHEDULED", "INPROGRESS", "PAUSED"] as const) {
      expect(upgradesQuery({ status })).to.contain(`UpgradeStatus = '${status}' AND ExecutionStatus = 'Running'`);
    }
  });

  it("takes an upgrade that ended without a word for failed, and no other", () => {
    const query = upgradesQuery({ status: "COMPLETED_WITH_FAILURE", bundleId: "b" });
    expect(query).to.contain(
      "AND (UpgradeStatus = 'COMPLETED_WITH_FAILURE' OR (ExecutionStatus IN ('Terminated', 'TimedOut', 'Failed') AND " +
        "UpgradeStatus NOT IN ('COMPLETED_WITH_SUCCESS', 'COMPLETED_WITH_FAILURE', 'CANCELLED'))) AND BundleId = 'b'",
    );
  });

  it("asks for every status in its own way", () => {
    const queries = Object.keys(UpgradeStatus.keys).map((status) => upgradesQuery({ status: status as UpgradeStatus }));
    expect(new Set(queries).size).to.equal(queries.length);
  });
});

describe("text of clients in a query", () => {
  const hostile = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.string({ unit: fc.constantFrom("'", "\\", '"', "`", " OR 1=1", ")", "%", "\n", "é") }),
  );

  it("stays one literal, whatever it holds", () =>
    fc.assert(
      fc.property(hostile, (bundleId) => {
        const { literals, rest } = parsed(upgradesQuery({ bundleId }));
        expect(rest).to.equal("WorkflowType = ? AND BundleId = ?");
        expect(literals).to.deep.equal(["upgradeWorkflow", bundleId]);
      }),
    ));

  it("stays one literal for each lock", () =>
    fc.assert(
      fc.property(fc.array(hostile, { minLength: 1, maxLength: 5 }), (ids) => {
        const { literals, rest } = parsed(locksQuery(ids));
        expect(rest).to.equal(`ExecutionStatus = ? AND WorkflowId IN (${ids.map(() => "?").join(", ")})`);
        expect(literals).to.deep.equal(["Running", ...ids]);
      }),
    ));
});
