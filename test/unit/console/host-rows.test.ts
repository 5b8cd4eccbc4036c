import { expect } from "chai";
import { countGroups, firstHostView, hostRows, tookOf, viewHosts } from "../../../src/console/model/host-rows";
import { begin, cluster, doneHost, failedHost, part, runningHost, task, waitingHost } from "./console-task";

const versions = [{ product: "HOSTOS" as const, from: ["9.0.0"], to: ["9.0.2"] }];
const shown = task([
  cluster("IN_PROGRESS", [doneHost("esx-10", 0, 60), doneHost("esx-2", 60, 80), runningHost("esx-3", 80)], "cl01"),
  cluster(
    "FAILED",
    [
      { ...failedHost("esx-4", 10, "no"), attempt: 2, maximumAttempts: 3 },
      waitingHost("esx-5"),
      part("HOST_UPGRADE", "NOT_APPLICABLE", { name: "esx-6", reasonCode: "AT_TARGET" }),
      part("HOST_UPGRADE", "NOT_APPLICABLE", { name: "esx-7", reasonCode: "NOT_STARTED" }),
    ],
    "cl02",
  ),
]);
const rows = hostRows(shown, versions);
const hosts = (view: Partial<typeof firstHostView>, now = begin + 100_000) =>
  viewHosts(rows, { ...firstHostView, ...view }, now).map(({ host }) => host.replace("esx-", ""));
const sorted = (column: typeof firstHostView.sort.column, isDescending = false) =>
  hosts({ sort: { column, isDescending } });

describe("the console's table of hosts", () => {
  it("has a row for each host with the key of its row in the tree", () => {
    expect(rows.map(({ key, host, cluster: its }) => [key, host, its]).slice(2, 4)).to.deep.equal([
      ["/subTasks/1/subTasks/0/subTasks/2", "esx-3", "cl01"],
      ["/subTasks/1/subTasks/1/subTasks/0", "esx-4", "cl02"],
    ]);
    expect(rows[3]).to.include({ step: "Remediate", attempt: 2, maximumAttempts: 3 });
  });

  it("says why a host was left out", () => {
    expect(rows.map(({ status }) => status.word)).to.deep.equal([
      "Done",
      "Done",
      "Running",
      "Failed",
      "Waiting",
      "At target",
      "Not started",
    ]);
  });

  it("tells the version of a host where the upgrade leaves no doubt", () => {
    const told = (known = versions) => hostRows(shown, known).map(({ version }) => version);
    expect(told()).to.deep.equal(["9.0.2", "9.0.2", undefined, undefined, "9.0.0", "9.0.2", "9.0.0"]);
    expect(told([{ product: "HOSTOS", from: ["8.0.3", "9.0.0"], to: ["9.0.2"] }])[4]).to.equal(undefined);
  });

  it("begins with what needs attention, in the order of the upgrade", () => {
    expect(hosts({})).to.deep.equal(["4", "3", "5", "10", "2", "6", "7"]);
  });

  it("is sorted by any column, numbers in names as numbers, what is unknown last in both directions", () => {
    expect(sorted("host")).to.deep.equal(["2", "3", "4", "5", "6", "7", "10"]);
    expect(sorted("cluster", true)[0]).to.equal("4");
    expect(sorted("took")).to.deep.equal(["4", "2", "3", "10", "5", "6", "7"]);
    expect(sorted("took", true)).to.deep.equal(["10", "2", "3", "4", "5", "6", "7"]);
    expect(sorted("attempt", true)[0]).to.equal("4");
    expect(sorted("began").slice(0, 4)).to.deep.equal(["10", "4", "2", "3"]);
  });

  it("is searched and filtered", () => {
    expect(hosts({ search: " CL02 " })).to.deep.equal(["4", "5", "6", "7"]);
    expect(hosts({ search: "remediate" })).to.deep.equal(["4", "3"]);
    expect(hosts({ group: "DONE" })).to.deep.equal(["10", "2"]);
    expect(hosts({ group: "DONE", search: "esx-2" })).to.deep.equal(["2"]);
    expect(countGroups(rows)).to.deep.equal({ FAILED: 1, RUNNING: 1, WAITING: 1, DONE: 2, LEFT_OUT: 2 });
  });

  it("tells how long a host took, and of one in work, so far", () => {
    expect(rows.slice(0, 5).map((row) => tookOf(row, begin + 100_000))).to.deep.equal([
      60_000,
      20_000,
      20_000,
      5000,
      undefined,
    ]);
  });
});
