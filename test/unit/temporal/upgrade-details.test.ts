import { expect } from "chai";
import { samplePlan } from "../../support/sample-plan";
import { describeResource, describeUpgrade } from "../../../workflows/details";

type Details = Parameters<typeof describeUpgrade>[0];

describe("The details of an upgrade in the Temporal Web UI", () => {
  const plan = samplePlan({ temporalAddress: "temporal.example.com:7233" });
  const of = (changes: Partial<Details>) =>
    describeUpgrade({
      plan,
      phase: "RUNNING",
      status: "INPROGRESS",
      since: "2026-11-28T20:28:43.194Z",
      waitsFor: undefined,
      offered: [],
      mayBeCancelled: true,
      decideBy: undefined,
      hosts: [],
      inWork: [],
      lastError: undefined,
      namespace: "upgrades",
      requestedBy: undefined,
      ...changes,
    });

  it("lead with the phase in words of people, the status of the specification, and since when", () => {
    expect(of({}).split("\n")[0]).to.equal("**Running** (INPROGRESS) since 2026-11-28 20:28:43 UTC");
  });

  it("say what it waits for", () => {
    const waitsFor = "It begins at 2026-11-29T02:00:00Z.";
    expect(of({ phase: "SCHEDULED", status: "SCHEDULED", waitsFor })).to.contain(`\n\n${waitsFor}\n\n`);
    const decideBy = "2026-12-05T20:28:43.194Z";
    const failed = of({ phase: "ACTION_REQUIRED", status: "COMPLETED_WITH_FAILURE", decideBy, lastError: "It broke." });
    expect(failed)
      .to.contain("waits for a decision until 2026-12-05 20:28:43 UTC.")
      .and.to.contain("Last error: It broke.");
  });

  it("name what is in work, the first five of many", () => {
    const names = Array.from({ length: 7 }, (_, i) => `cl-${i}`);
    expect(of({ inWork: names })).to.contain("In work: cl-0, cl-1, cl-2, cl-3, cl-4, and 2 more.");
  });

  it("say what each request does at this phase, with the whole command for the first", () => {
    const draft = of({ phase: "DRAFT_PRECHECKS", status: "DRAFT", offered: ["commit"] });
    expect(draft).to.contain("- `commit`: starts it when its prechecks have passed\n");
    const late = of({ phase: "ACTION_REQUIRED", status: "SCHEDULED", offered: ["commit"] });
    expect(late).to.contain("- `commit`: starts what did not start at its time\n");
    const command = [
      "```",
      "temporal workflow update execute --name retry \\",
      `  --workflow-id ${plan.id} \\`,
      "  --address temporal.example.com:7233 --namespace upgrades",
      "```",
    ].join("\n");
    expect(of({ offered: ["retry", "resolve"] })).to.contain(command);
  });

  it("offer a cancellation only where it has an effect", () => {
    expect(of({ mayBeCancelled: true })).to.contain("Request Cancellation");
    expect(of({ mayBeCancelled: false })).not.to.contain("Cancellation");
  });

  it("tell an error of an earlier attempt apart from one that still holds", () => {
    const lastError = "Host esx-01 failed.";
    expect(of({ lastError })).to.contain(`Last error: ${lastError}`);
    const ended = of({ phase: "SUCCEEDED", status: "COMPLETED_WITH_SUCCESS", lastError });
    expect(ended).to.contain(`Earlier error: ${lastError}`);
  });
});

describe("The details of a resource in the Temporal Web UI", () => {
  it("say what is being done, with which hosts", () => {
    const counts = ["Hosts: **1 of 4** at the target, 0 failed."];
    const inWork = ["esx-02.example.com"];
    expect(describeResource({ doing: "Upgrading hosts", counts, inWork, lastError: undefined })).to.equal(
      "**Upgrading hosts**\n\nHosts: **1 of 4** at the target, 0 failed.\n\nIn work: esx-02.example.com.\n\n\u00a0",
    );
  });
});
