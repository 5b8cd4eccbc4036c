import { expect } from "chai";
import { filterChips, filterParameters, phaseParameter } from "../../../src/console/model/list-filters";
import type { ListView } from "../../../src/console/model/page-address";

describe("the filters of the console's list", () => {
  const view: ListView = {
    ...{ tab: "DRAFTS", search: "prod", bundleId: "b1", resourceId: "c1", phase: "DRAFT_READY", createdBy: "ada" },
    ...{ changeId: "CHG1", label: "team=blue", created: "7d", sort: "name", page: 3 },
  };
  const now = Date.parse("2026-12-08T12:00:30Z");

  it("are parameters of the API, with an age as a time to the minute", () => {
    expect(filterParameters(view, now)).to.deep.equal({
      ...{ search: "prod", bundleId: "b1", resourceId: "c1", createdBy: "ada" },
      ...{ changeId: "CHG1", label: "team=blue" },
      createdSince: "2026-12-01T12:00:00.000Z",
    });
    expect(filterParameters({ tab: "DRAFTS" }, now)).to.deep.equal({});
  });

  it("ask for the phase, or for all of the tab's", () => {
    expect(phaseParameter(view)).to.deep.equal({ phase: "DRAFT_READY" });
    expect(phaseParameter({ tab: "DRAFTS" })).to.deep.equal({ phase: "DRAFT_PRECHECKS,DRAFT_READY,PRECHECKS_FAILED" });
    expect(phaseParameter({})).to.deep.equal({});
  });

  it("are told by the names of what they choose", () => {
    const names = { bundle: () => "9.0.2", cluster: () => "fra1" };
    expect(filterChips(view, names).map(({ words }) => words)).to.deep.equal([
      ...["Search: prod", "Bundle: 9.0.2", "Cluster: fra1", "Status: Draft, ready", "Label: team=blue"],
      ...["Change: CHG1", "Created by: ada"],
      "Created in the last 7 days",
    ]);
    expect(filterChips({ tab: "DRAFTS", sort: "name" }, names)).to.deep.equal([]);
  });
});
