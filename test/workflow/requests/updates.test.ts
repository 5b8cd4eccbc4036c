import { WorkflowUpdateFailedError } from "@temporalio/client";
import { ApplicationFailure } from "@temporalio/common";
import { expect } from "chai";
import type { ActivityEntry } from "../../../src/domain/activity/upgrade-activity";
import { type OperatorRequest, operatorRequests } from "../../../src/domain/requests/upgrade-request";
import { activityQuery } from "../../../workflows/messages";
import { DocumentedCommands } from "../../support/documented-commands";
import { failedCheck, FakeActivities, Gate, hostFailure, passedCheck, upgraded } from "../../support/fake-activities";
import { rejectionOf } from "../../support/rejection-of";
import type { RunningUpgrade } from "../../support/running-upgrade";
import { useBench } from "../../support/upgrade-bench";
import { temporalCli } from "../../support/workflow-environment";

const draftWaiting = "Pending / DRAFT";
const failed = "Failed / COMPLETED_WITH_FAILURE";

/** What whoever sent an Update that was refused learns. */
async function refusalOf(update: Promise<unknown>) {
  const error = await rejectionOf(update);
  if (!(error instanceof WorkflowUpdateFailedError) || !(error.cause instanceof ApplicationFailure)) throw error;
  const { type, message, details } = error.cause;
  return { code: type, message, reason: details?.[0] as { message: string; errorCode: string } };
}

async function requestsOf(upgrade: RunningUpgrade): Promise<string[]> {
  const { entries } = await upgrade.handle.query(activityQuery);
  return entries
    .filter((entry): entry is ActivityEntry & { outcome: string } => entry.outcome !== undefined)
    .map(({ kind, outcome, actor, via, errorCode }) =>
      [kind, outcome, actor, via, errorCode].filter((part) => part !== undefined).join(" "),
    );
}

describe("Requests by Update", function () {
  this.timeout(60_000);
  const bench = useBench("DEV_SERVER");

  it("are answered at once, accepted or refused with the reason, and are in the activity log", async () => {
    const gate = new Gate();
    let prechecks = 0;
    let reported = 0;
    const fake = new FakeActivities(
      {
        runClusterPrechecks: async () => ({ stages: prechecks++ === 0 ? failedCheck() : passedCheck() }),
        remediateHost: async (input) => {
          await gate.pass();
          if (reported === 0) throw hostFailure(input, ++reported);
          return upgraded(input);
        },
      },
      1,
    );
    const upgrade = await bench().upgrade({ draft: true }, fake);
    await upgrade.untilStatuses(draftWaiting);
    const refused = await refusalOf(upgrade.update("commit", { requestedBy: "ada" }));
    expect(refused.code).to.equal("PRECHECKS_FAILED");
    expect(refused.message).to.contain("prechecks have failed").and.to.contain("run the prechecks again");
    expect(refused.reason.errorCode).to.equal("PRECHECKS_FAILED");
    expect(await upgrade.update("prechecks")).to.include({ request: "prechecks", accepted: true, run: 2 });
    await upgrade.untilStatuses(draftWaiting);
    expect(await upgrade.update("commit", { requestedBy: "ada" })).to.include({ accepted: true, requestedBy: "ada" });
    await gate.reached;
    expect(await upgrade.update("pause")).to.include({ request: "pause", accepted: true });
    expect((await refusalOf(upgrade.update("pause"))).message).to.contain("already paused");
    expect(await upgrade.update("resume")).to.include({ request: "resume", accepted: true });
    gate.open();
    await upgrade.untilStatuses(failed);
    expect(await upgrade.update("retry")).to.include({ request: "retry", accepted: true });
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    expect(await requestsOf(upgrade)).to.deep.equal([
      "CREATE ACCEPTED a test HTTP",
      "COMMIT REFUSED ada UPDATE PRECHECKS_FAILED",
      "PRECHECKS ACCEPTED UPDATE",
      "COMMIT ACCEPTED ada UPDATE",
      "PAUSE ACCEPTED UPDATE",
      "PAUSE REFUSED UPDATE REQUEST_NOT_POSSIBLE",
      "RESUME ACCEPTED UPDATE",
      "RETRY ACCEPTED UPDATE",
    ]);
  });

  it("are answered also where they end the upgrade", async () => {
    const fake = new FakeActivities({ remediateHost: (input) => Promise.reject(hostFailure(input)) }, 1);
    const upgrade = await bench().upgrade({}, fake);
    await upgrade.untilStatuses(failed);
    expect(await upgrade.update("resolve")).to.include({ request: "resolve", accepted: true });
    expect(await upgrade.end()).to.equal("FAILED");
  });

  it("are decided as Signals of the same name are", async () => {
    const upgrade = await bench().upgrade({ draft: true }, new FakeActivities({}, 1));
    await upgrade.untilStatuses(draftWaiting);
    for (const name of ["pause", "resume", "retry", "resolve"] as const) {
      const { reason } = await upgrade.ask(name);
      expect((await refusalOf(upgrade.update(name))).reason, name).to.deep.equal(reason);
    }
  });

  it("leave no trace in the history where they cannot be read, however often they are sent", async () => {
    const upgrade = await bench().upgrade({ draft: true }, new FakeActivities({}, 1));
    await upgrade.untilStatuses(draftWaiting);
    const length = async () => (await upgrade.handle.describe()).historyLength;
    const before = await length();
    for (let i = 0; i < 5; i++)
      for (const payload of [1, "now", [], { upgradeNow: "true" }, { scheduledTimestamp: "tomorrow" }]) {
        const { code, message } = await refusalOf(upgrade.update("commit", payload));
        expect(code).to.equal("SIGNAL_PAYLOAD_INVALID");
        expect(message).to.contain('{"upgradeNow": true}');
      }
    expect(await length()).to.equal(before);
    expect(await requestsOf(upgrade)).to.deep.equal(["CREATE ACCEPTED a test HTTP"]);
    expect(await upgrade.update("commit")).to.include({ accepted: true });
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
  });

  it("have one effect and one answer for each id", async () => {
    const upgrade = await bench().upgrade({ draft: true }, new FakeActivities({}, 1));
    await upgrade.untilStatuses(draftWaiting);
    const first = await upgrade.update("prechecks", { requestId: "change-4711" });
    await upgrade.untilStatuses(draftWaiting);
    expect(await upgrade.update("prechecks", { requestId: "change-4711" })).to.deep.equal(first);
    expect(await upgrade.outcomeOf("change-4711")).to.deep.equal(first);
  });

  it("are named and described as the Signals are", async () => {
    const upgrade = await bench().upgrade({ draft: true }, new FakeActivities({}, 1));
    const { definition } = await upgrade.handle.query<{
      definition: Record<"signalDefinitions" | "updateDefinitions", { name: string; description?: string }[]>;
    }>("__temporal_workflow_metadata");
    const of = (names: { name: string; description?: string }[]) =>
      names
        .filter(({ name }) => operatorRequests.includes(name as OperatorRequest))
        .map(({ name, description }) => ({ name, description }))
        .sort((one, other) => (one.name < other.name ? -1 : 1));
    expect(of(definition.updateDefinitions)).to.deep.equal(of(definition.signalDefinitions));
    expect(of(definition.updateDefinitions).map(({ name }) => name)).to.deep.equal([...operatorRequests].sort());
    for (const { description = "" } of of(definition.updateDefinitions)) expect(description).to.match(/No input|\{"/);
  });

  it("wait for a worker where there is none", async () => {
    const upgrade = await bench().upgrade({ draft: true }, new FakeActivities({}, 1));
    await upgrade.untilStatuses(draftWaiting);
    await bench().stopWorker();
    const answer = upgrade.update("commit");
    await bench().startWorker();
    expect(await answer).to.include({ request: "commit", accepted: true });
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
  });

  describe("with the documented commands", () => {
    let documented: DocumentedCommands;
    before(() => {
      documented = new DocumentedCommands("upgrades.md", "## Requests with `temporal`", temporalCli());
    });
    after(() => documented.discard());

    const run = (upgrade: RunningUpgrade, ...words: string[]) =>
      documented.run(words, { id: upgrade.id, TEMPORAL_ADDRESS: bench().env.address });

    it("print the outcome, or fail with the reason", async () => {
      const upgrade = await bench().upgrade({ draft: true }, new FakeActivities({}, 1));
      await upgrade.untilStatuses(draftWaiting);
      expect(String(await rejectionOf(run(upgrade, "update execute", "retry"))))
        .to.contain("Only a failed upgrade can be retried. It is DRAFT.")
        .and.to.contain("Read the upgrade's Task");
      expect(await run(upgrade, "update execute", "scheduledTimestamp")).to.match(/accepted"?:\s*true/);
      await upgrade.untilStatuses("Pending / SCHEDULED");
      await run(upgrade, "signal", "scheduledTimestamp");
      expect(await run(upgrade, "query", "change-4711")).to.match(/"accepted":\s*true/);
      expect(await requestsOf(upgrade)).to.include.members([
        "RETRY REFUSED UPDATE REQUEST_NOT_POSSIBLE",
        "COMMIT ACCEPTED alice UPDATE",
        "RESCHEDULE ACCEPTED alice SIGNAL",
      ]);
      await upgrade.update("commit", { upgradeNow: true });
      expect(await upgrade.end()).to.equal("SUCCESSFUL");
    });
  });
});
