import { expect } from "chai";
import fc from "fast-check";
import { TaskStatus } from "../../../src/domain/spec/task";
import { UpgradeStatus } from "../../../src/domain/spec/upgrade";
import { locksQuery, tasksQuery, upgradesQuery } from "../../../src/temporal/visibility";

/** The string literals of a query, as the server reads them, and what stands between them. */
function parsed(query: string): { literals: string[]; rest: string } {
  const literals: string[] = [];
  const rest = query.replaceAll(/'((?:[^'\\]|\\.)*)'/gs, (_, literal: string) => {
    literals.push(literal.replaceAll(/\\(.)/gs, "$1"));
    return "?";
  });
  return { literals, rest };
}

/** Each upgrade once, however many runs its Workflow has. */
const ofUpgrades = "WorkflowType = 'upgradeWorkflow' AND ExecutionStatus != 'ContinuedAsNew'";

describe("upgradesQuery", () => {
  it("asks for upgrades, not for the Workflows of their resources", () => {
    expect(upgradesQuery({})).to.equal(ofUpgrades);
  });

  it("joins the filters", () => {
    expect(upgradesQuery({ status: ["CANCELLED"], bundleId: "b", bundleType: "HCI", resourceId: "r" })).to.equal(
      ofUpgrades +
        " AND UpgradeStatus = 'CANCELLED' AND BundleId = 'b' AND BundleType = 'HCI' AND " +
        "ResourceIds = 'r'",
    );
  });

  it("asks for the time of creation, which is not that of a run", () => {
    expect(upgradesQuery({ createdSince: "2026-12-01T00:00:00.000Z" })).to.equal(
      `${ofUpgrades} AND CreatedAt >= '2026-12-01T00:00:00.000Z'`,
    );
  });

  it("believes a status that says that work goes on only of a Workflow that runs", () => {
    for (const status of ["PENDING", "DRAFT", "SCHEDULED", "INPROGRESS", "PAUSED"] as const) {
      expect(upgradesQuery({ status: [status] })).to.contain(
        `UpgradeStatus = '${status}' AND ExecutionStatus = 'Running'`,
      );
    }
  });

  it("takes an upgrade that ended without a word for failed, and no other", () => {
    const query = upgradesQuery({ status: ["COMPLETED_WITH_FAILURE"], bundleId: "b" });
    expect(query).to.contain(
      "AND (UpgradeStatus = 'COMPLETED_WITH_FAILURE' OR (ExecutionStatus IN ('Terminated', 'TimedOut', 'Failed') AND " +
        "UpgradeStatus NOT IN ('COMPLETED_WITH_SUCCESS', 'COMPLETED_WITH_FAILURE', 'CANCELLED'))) AND BundleId = 'b'",
    );
  });

  it("asks for every status in its own way", () => {
    const queries = Object.keys(UpgradeStatus.keys).map((status) =>
      upgradesQuery({ status: [status as UpgradeStatus] }),
    );
    expect(new Set(queries).size).to.equal(queries.length);
  });
});

describe("upgradesQuery for several statuses and phases", () => {
  it("asks for any of the statuses, each in its own way", () => {
    expect(upgradesQuery({ status: ["CANCELLED", "DRAFT"] })).to.equal(
      `${ofUpgrades} AND ((UpgradeStatus = 'CANCELLED') OR (UpgradeStatus = 'DRAFT' AND ExecutionStatus = 'Running'))`,
    );
  });

  it("believes a phase in which an upgrade goes on only of a Workflow that runs", () => {
    expect(upgradesQuery({ phase: ["RUNNING", "PAUSED"] })).to.equal(
      `${ofUpgrades} AND ((ExecutionStatus = 'Running' AND UpgradePhase IN ('RUNNING', 'PAUSED')))`,
    );
  });

  it("takes an upgrade that ended without a word for FAILED, and no other", () => {
    expect(upgradesQuery({ phase: ["FAILED"] })).to.contain(
      "(UpgradePhase IN ('FAILED') OR (ExecutionStatus IN ('Terminated', 'TimedOut', 'Failed') AND UpgradePhase NOT IN (",
    );
    expect(upgradesQuery({ phase: ["CANCELLED"] })).not.to.contain("Terminated");
  });

  it("asks for nothing where no phase is left", () => {
    expect(upgradesQuery({ phase: [] })).to.contain("WorkflowType = ''");
  });
});

describe("tasksQuery", () => {
  it("joins the filters", () => {
    expect(tasksQuery({})).to.equal(ofUpgrades);
    expect(tasksQuery({ taskStatus: "Cancelled", resourceId: "c1" })).to.equal(
      `${ofUpgrades} AND TaskStatus = 'Cancelled' AND ResourceIds = 'c1'`,
    );
  });

  it("finds a status in both of its spellings, and knows those that work goes on in", () => {
    for (const [upper, mixed] of [
      ["PENDING", "Pending"],
      ["IN_PROGRESS", "In Progress"],
      ["SUCCESSFUL", "Successful"],
      ["FAILED", "Failed"],
      ["CANCELLED", "Cancelled"],
    ] as const) {
      expect(tasksQuery({ taskStatus: upper })).to.equal(tasksQuery({ taskStatus: mixed }));
    }
    const queries = Object.keys(TaskStatus.keys).map((taskStatus) =>
      tasksQuery({ taskStatus: taskStatus as TaskStatus }),
    );
    expect(new Set(queries).size).to.equal(7);
    expect(queries.filter((query) => query.includes("ExecutionStatus = 'Running'"))).to.have.length(4);
  });

  it("takes a Task that ended without a word for failed, and no other", () => {
    expect(tasksQuery({ taskStatus: "Failed" })).to.contain(
      "AND (TaskStatus = 'Failed' OR (ExecutionStatus IN ('Terminated', 'TimedOut', 'Failed') AND " +
        "TaskStatus NOT IN ('Successful', 'COMPLETED_WITH_WARNING', 'SKIPPED', 'Failed', 'Cancelled')))",
    );
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
        expect(rest).to.equal("WorkflowType = ? AND ExecutionStatus != ? AND BundleId = ?");
        expect(literals).to.deep.equal(["upgradeWorkflow", "ContinuedAsNew", bundleId]);
      }),
    ));

  it("stays one literal as the id of a resource", () =>
    fc.assert(
      fc.property(
        hostile.filter((text) => !text.includes('"')),
        (resourceId) => {
          const { literals, rest } = parsed(tasksQuery({ resourceId }));
          expect(rest).to.equal("WorkflowType = ? AND ExecutionStatus != ? AND ResourceIds = ?");
          expect(literals).to.deep.equal(["upgradeWorkflow", "ContinuedAsNew", resourceId]);
        },
      ),
    ));

  it("finds nothing by an id with a quotation mark, which SQLite cannot be asked for and the inventory refuses", () => {
    const query = upgradesQuery({ resourceId: `" OR "1"="1` });
    expect(query).to.equal(`${ofUpgrades} AND WorkflowType = ''`);
  });

  it("stays one literal for each lock", () =>
    fc.assert(
      fc.property(fc.array(hostile, { minLength: 1, maxLength: 5 }), (ids) => {
        const { literals, rest } = parsed(locksQuery(ids));
        expect(rest).to.equal(`ExecutionStatus = ? AND WorkflowId IN (${ids.map(() => "?").join(", ")})`);
        expect(literals).to.deep.equal(["Running", ...ids]);
      }),
    ));
});
