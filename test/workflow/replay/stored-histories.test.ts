import { expect } from "chai";
import * as workflows from "../../../workflows";
import { operatorRequests } from "../../../src/domain/requests/upgrade-request";
import * as messages from "../../../workflows/messages";
import { requestSignals, requestUpdates } from "../../../workflows/messages";
import { FakeActivities } from "../../support/fake-activities";
import { activityTypeOf, attributesOf, childRuns, endOf } from "./history-json";
import { neutralHistory } from "./neutral-history";
import { recordingOf, storiesToTell } from "./recording";
import { storedHistories } from "./stored-histories";
import { stories } from "./stories";

/** What can happen to a Workflow of each type that decides how it goes on: the part of `EVENT_TYPE_...` that tells. */
const eventsThatDecide: Readonly<Record<keyof typeof workflows, readonly string[]>> = {
  notifyWorkflow: [
    "ACTIVITY_TASK_COMPLETED",
    "ACTIVITY_TASK_FAILED",
    "TIMER_CANCELED",
    "WORKFLOW_EXECUTION_CANCEL_REQUESTED",
    "WORKFLOW_EXECUTION_COMPLETED",
    "WORKFLOW_EXECUTION_CONTINUED_AS_NEW",
    "WORKFLOW_EXECUTION_SIGNALED",
  ],
  watchUpgradeWorkflow: [
    "EXTERNAL_WORKFLOW_EXECUTION_SIGNALED",
    "WORKFLOW_EXECUTION_CANCEL_REQUESTED",
    "WORKFLOW_EXECUTION_COMPLETED",
  ],
  freezeWorkflow: ["TIMER_FIRED", "WORKFLOW_EXECUTION_COMPLETED"],
  holdWorkflow: ["TIMER_FIRED", "WORKFLOW_EXECUTION_COMPLETED"],
  readinessWorkflow: [
    "ACTIVITY_TASK_COMPLETED",
    "WORKFLOW_EXECUTION_CANCELED",
    "WORKFLOW_EXECUTION_CANCEL_REQUESTED",
    "WORKFLOW_EXECUTION_COMPLETED",
  ],
  upgradeWorkflow: [
    "ACTIVITY_TASK_COMPLETED",
    "ACTIVITY_TASK_FAILED",
    "CHILD_WORKFLOW_EXECUTION_CANCELED",
    "CHILD_WORKFLOW_EXECUTION_COMPLETED",
    "CHILD_WORKFLOW_EXECUTION_FAILED",
    "CHILD_WORKFLOW_EXECUTION_TERMINATED",
    "EXTERNAL_WORKFLOW_EXECUTION_SIGNALED",
    "START_CHILD_WORKFLOW_EXECUTION_FAILED",
    "TIMER_CANCELED",
    "TIMER_FIRED",
    "WORKFLOW_EXECUTION_CANCELED",
    "WORKFLOW_EXECUTION_CANCEL_REQUESTED",
    "WORKFLOW_EXECUTION_COMPLETED",
    "WORKFLOW_EXECUTION_CONTINUED_AS_NEW",
    "WORKFLOW_EXECUTION_FAILED",
    "WORKFLOW_EXECUTION_SIGNALED",
  ],
  clusterUpgradeWorkflow: [
    "ACTIVITY_TASK_CANCELED",
    "ACTIVITY_TASK_COMPLETED",
    "ACTIVITY_TASK_FAILED",
    "ACTIVITY_TASK_TIMED_OUT",
    "EXTERNAL_WORKFLOW_EXECUTION_SIGNALED",
    "WORKFLOW_EXECUTION_CANCELED",
    "WORKFLOW_EXECUTION_CANCEL_REQUESTED",
    "WORKFLOW_EXECUTION_COMPLETED",
    "WORKFLOW_EXECUTION_FAILED",
    "WORKFLOW_EXECUTION_SIGNALED",
  ],
  netvirtUpgradeWorkflow: [
    "ACTIVITY_TASK_CANCELED",
    "ACTIVITY_TASK_COMPLETED",
    "ACTIVITY_TASK_FAILED",
    "ACTIVITY_TASK_TIMED_OUT",
    "EXTERNAL_WORKFLOW_EXECUTION_SIGNALED",
    "WORKFLOW_EXECUTION_CANCELED",
    "WORKFLOW_EXECUTION_CANCEL_REQUESTED",
    "WORKFLOW_EXECUTION_COMPLETED",
    "WORKFLOW_EXECUTION_FAILED",
    "WORKFLOW_EXECUTION_SIGNALED",
  ],
  mgmtUpgradeWorkflow: [
    "ACTIVITY_TASK_CANCELED",
    "ACTIVITY_TASK_COMPLETED",
    "ACTIVITY_TASK_FAILED",
    "ACTIVITY_TASK_TIMED_OUT",
    "EXTERNAL_WORKFLOW_EXECUTION_SIGNALED",
    "TIMER_CANCELED",
    "TIMER_FIRED",
    "WORKFLOW_EXECUTION_CANCELED",
    "WORKFLOW_EXECUTION_CANCEL_REQUESTED",
    "WORKFLOW_EXECUTION_COMPLETED",
    "WORKFLOW_EXECUTION_FAILED",
    "WORKFLOW_EXECUTION_SIGNALED",
  ],
};

describe("The set of stored histories", () => {
  const stored = storedHistories();
  const events = stored.flatMap(({ workflowType, history }) =>
    history.events.map((event) => ({ workflowType, event })),
  );

  it("has every story, told to the same end", () => {
    const ends = (name: string) =>
      stored.filter(({ story, part }) => story === name && part === "upgrade").map(({ history }) => endOf(history));
    for (const [name, story] of Object.entries(stories)) expect(ends(name), name).to.include(story.ends);
  });

  it("has the runs of all the clusters of each upgrade", () => {
    const runs = new Set(stored.map(({ runId }) => runId));
    const missing = stored.filter(({ history }) => childRuns(history).some(({ runId }) => !runs.has(runId)));
    expect(missing.map(({ folder, story }) => `${folder}/${story}`)).to.deep.equal([]);
  });

  it("has every run once", () => {
    expect(new Set(stored.map(({ runId }) => runId)).size).to.equal(stored.length);
  });

  it("has every Workflow Type, and open runs of each", () => {
    const open = stored.filter(({ history }) => endOf(history) === "OPEN").map(({ workflowType }) => workflowType);
    expect(open).to.include.members(Object.keys(workflows));
  });

  it("has every Signal and every Update", () => {
    const all = [...Object.values(messages), ...Object.values(requestSignals), ...Object.values(requestUpdates)];
    const named = (wanted: string) =>
      all.flatMap((message) =>
        typeof message === "object" && "type" in message && message.type === wanted ? [message.name] : [],
      );
    const signals = named("signal");
    expect(signals).to.include.members([...operatorRequests, "hosts"]);
    const received = events.map(({ event }) => (attributesOf(event) as { signalName?: string }).signalName);
    expect(received).to.include.members(signals);
    expect(named("update")).to.have.members([...operatorRequests]);
    // Each Update is the Signal of its name by another way; two show that way.
    expect(events.map(({ event }) => event.eventType)).to.include("EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED");
  });

  it("has every Activity", () => {
    const scheduled = events.flatMap(({ event }) => [activityTypeOf(event)]);
    expect(scheduled).to.include.members(Object.keys(new FakeActivities().implementation()));
  });

  for (const [type, expected] of Object.entries(eventsThatDecide))
    it(`has every event that decides how ${type} goes on`, () => {
      const mine = events.filter(({ workflowType }) => workflowType === type);
      expect(mine.map(({ event }) => event.eventType.replace("EVENT_TYPE_", ""))).to.include.members(expected);
    });

  it("tells nothing of the machines on which it was recorded", () => {
    const telling = stored.filter(({ history }) => JSON.stringify(neutralHistory(history)) !== JSON.stringify(history));
    expect(telling.map(({ folder, story, part }) => `${folder}/${story}.${part}`)).to.deep.equal([]);
  });
});

describe("A recording of stories", () => {
  const all = ["a", "b", "c"];

  it("tells before 1.0.0 all of them, or those that are asked for, whatever is stored", () => {
    expect(recordingOf("0.9.3")).to.equal("before-1.0");
    expect(storiesToTell("0.9.3", { all, asked: [], stored: ["a"] })).to.deep.equal(all);
    expect(storiesToTell("0.9.3", { all, asked: ["a", "b"], stored: ["a"] })).to.deep.equal(["a", "b"]);
  });

  it("has from 1.0.0 on a folder of its own for each release, and tells what is not in it", () => {
    expect(recordingOf("1.0.0")).to.equal("1.0.0");
    expect(storiesToTell("1.0.0", { all, asked: [], stored: ["a"] })).to.deep.equal(["b", "c"]);
    expect(storiesToTell("1.0.0", { all, asked: ["c"], stored: ["a"] })).to.deep.equal(["c"]);
  });

  it("replaces nothing from 1.0.0 on", () => {
    const again = () => storiesToTell("1.0.0", { all, asked: ["a", "b"], stored: ["a"] });
    expect(again).to.throw("Stored already, and says what a released build has done: a. Record it beside: --as NAME.");
  });

  it("tells no story that is not there", () => {
    for (const version of ["0.9.3", "1.0.0"])
      expect(() => storiesToTell(version, { all, asked: ["a", "d"], stored: [] })).to.throw("No such story: d");
  });
});
