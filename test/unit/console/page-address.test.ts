import { expect } from "chai";
import { changedView, fragmentOf, listTabs, pageAddressOf, phasesOfTab } from "../../../src/console/model/page-address";
import { PublishedPhase } from "../../../src/domain/spec/upgrade";

describe("the console's addresses", () => {
  it("lead back to the page they were made of", () => {
    for (const address of [
      { page: "UPGRADES" },
      {
        page: "UPGRADES",
        view: {
          tab: "DRAFTS",
          bundleId: "a b&c=d",
          resourceId: "#/é",
          search: "50% & more",
          phase: "DRAFT_READY",
          createdBy: "jane@example.com",
          created: "7d",
          sort: "ended",
          without: ["HOSTS", "ID"],
          page: 12,
        },
      },
      { page: "NEW" },
      { page: "NEW", like: "6f1f-2a" },
      { page: "UPGRADE", id: "6f1f-2a" },
      { page: "READINESS" },
      { page: "READINESS", number: 3 },
      { page: "NEW_CHECK" },
      { page: "CHECK", id: "6f1f-2a-readiness-2026-12-01T02:00:00Z" },
    ] as const)
      expect(pageAddressOf(fragmentOf(address))).to.deep.equal(address);
    for (const fragment of [
      ...["#/upgrades/../x", "#/?", "#/?page=1", "#/?page=-3", "#/?page=x&search=", "#/?other=y"],
      ...["#/?tab=drafts", "#/?sort=size", "#/?phase=LOST&created=2w", "#/?without=NAME,,"],
    ])
      expect(pageAddressOf(fragment), fragment).to.deep.equal({ page: "UPGRADES" });
  });

  it("begin at the first page where something else is listed, and leave out filters that are taken away", () => {
    expect(changedView({ page: 3, search: "fra1", sort: "name" }, { search: "", tab: "RUNNING" })).to.deep.equal({
      sort: "name",
      tab: "RUNNING",
    });
  });

  it("keep a phase only on a tab that has it", () => {
    expect(changedView({ tab: "DRAFTS", phase: "DRAFT_READY" }, { tab: "RUNNING" })).to.deep.equal({ tab: "RUNNING" });
    expect(changedView({ phase: "DRAFT_READY" }, { tab: "DRAFTS" })).to.have.property("phase", "DRAFT_READY");
    expect(changedView({ phase: "DRAFT_READY" }, { phase: "" })).to.deep.equal({});
    expect(pageAddressOf("#/?tab=RUNNING&phase=DRAFT_READY")).to.deep.equal({
      page: "UPGRADES",
      view: { tab: "RUNNING" },
    });
  });

  it("have a tab for every phase, and none twice", () => {
    const phases = listTabs.flatMap((tab) => phasesOfTab(tab) ?? []);
    expect(phasesOfTab("ALL")).to.equal(undefined);
    expect(phases).to.have.members(Object.keys(PublishedPhase.keys));
    expect(phasesOfTab("NEEDS_YOU")).to.deep.equal(["ACTION_REQUIRED"]);
  });
});
