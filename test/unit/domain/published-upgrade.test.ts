import { expect } from "chai";
import { upgradeView } from "../../../src/domain/plan/schedule";
import {
  changesNothing,
  publishedRefusal,
  type PublishedUpgrade,
} from "../../../src/domain/requests/published-upgrade";
import type { RequestOutcome } from "../../../src/domain/requests/upgrade-request";
import type { Upgrade, UpgradePhase } from "../../../src/domain/spec/upgrade";
import { applyProgress, initialTask } from "../../../src/domain/task/task-progress";
import { samplePlan } from "../../support/sample-plan";

const plan = samplePlan({ draft: true });
const at = "2026-11-01T12:00:00.000Z";
const now = Date.parse(at);

/** What an upgrade has published in a phase. */
function published(phase: UpgradePhase, changes: Partial<PublishedUpgrade> = {}): PublishedUpgrade {
  const task = applyProgress(initialTask(plan), { type: "PhaseEntered", phase, at });
  return {
    upgrade: upgradeView(plan, phase, at),
    task,
    cancelRequested: false,
    history: { events: 100, bytes: 100_000 },
    mayChange: false,
    ...changes,
  };
}

const refused = (name: RequestOutcome["request"], phase: UpgradePhase, changes: Partial<PublishedUpgrade> = {}) =>
  publishedRefusal({ name }, published(phase, changes), now)?.errorCode;

describe("publishedRefusal", () => {
  const phases = [
    "DRAFT_ACCEPTED",
    "DRAFT_PRECHECKS",
    "DRAFT_WAITING",
    "ACCEPTED",
    "SCHEDULED",
    "RUNNING",
    "PAUSED",
    "FAILED",
  ] as const;
  const possible: Record<RequestOutcome["request"], readonly UpgradePhase[]> = {
    commit: ["DRAFT_ACCEPTED", "DRAFT_PRECHECKS", "DRAFT_WAITING", "ACCEPTED", "SCHEDULED"],
    pause: ["RUNNING"],
    resume: ["PAUSED"],
    // Whether its prechecks have begun is not published.
    prechecks: ["DRAFT_ACCEPTED", "DRAFT_WAITING"],
    retry: ["FAILED"],
    resolve: ["FAILED"],
    // This upgrade needs no approval.
    approve: [],
    reject: [],
    // What was found only the upgrade itself knows for sure.
    acknowledge: [...phases],
    // Only the upgrade itself knows what has begun.
    skip: phases,
  };

  for (const [name, allowed] of Object.entries(possible) as [RequestOutcome["request"], readonly UpgradePhase[]][]) {
    it(`leaves ${name} to an upgrade that may take it, and refuses it in every other phase`, () => {
      for (const phase of phases)
        expect(refused(name, phase), phase).to.equal(allowed.includes(phase) ? undefined : "REQUEST_NOT_POSSIBLE");
    });
  }

  it("refuses all of an upgrade that is being cancelled", () => {
    for (const name of Object.keys(possible) as RequestOutcome["request"][])
      for (const phase of phases)
        expect(refused(name, phase, { cancelRequested: true })).to.equal("REQUEST_NOT_POSSIBLE");
  });

  it("refuses what makes a full history longer, and never what ends or goes on", () => {
    for (const history of [
      { events: 30_000, bytes: 1_000 },
      { events: 1_000, bytes: 30_000_000 },
    ]) {
      const refusals: [RequestOutcome["request"], UpgradePhase][] = [
        ["commit", "SCHEDULED"],
        ["pause", "RUNNING"],
        ["prechecks", "DRAFT_WAITING"],
        ["acknowledge", "DRAFT_WAITING"],
      ];
      for (const [name, phase] of refusals)
        expect(refused(name, phase, { history }), name).to.equal("REQUEST_NOT_POSSIBLE");
      for (const [name, phase] of [
        ["commit", "DRAFT_WAITING"],
        ["resume", "PAUSED"],
        ["resolve", "FAILED"],
      ] as const)
        expect(refused(name, phase, { history }), name).to.equal(undefined);
    }
  });

  it("refuses the commit of a draft whose prechecks have failed, with what they found", () => {
    const { task } = published("DRAFT_WAITING");
    const error = { errorCode: "HOST_NOT_CONNECTED", message: "Host esx-1 is not connected." };
    const stage = {
      name: "",
      type: "X",
      description: "",
      status: "FAILED",
      creationTimestamp: at,
      errors: [error],
    } as const;
    const [run, ...rest] = task.subTasks ?? [];
    const [part, ...others] = run?.subTasks ?? [];
    const failed = { ...part!, status: "FAILED" as const, stages: [{ ...stage, errors: [error] }] };
    const subTasks = [{ ...run!, status: "FAILED" as const, subTasks: [failed, ...others] }, ...rest];
    const reason = publishedRefusal(
      { name: "commit" },
      published("DRAFT_WAITING", { task: { ...task, subTasks } }),
      now,
    );
    expect(reason?.errorCode).to.equal("PRECHECKS_FAILED");
    expect(reason?.nestedErrors).to.deep.equal([error]);
    expect(reason?.message).to.contain("esx-1");
  });
});

const [time, sameTime, otherTime] = ["2026-12-01T09:30:00Z", "2026-12-01T10:30:00+01:00", "2026-12-01T09:31:00Z"];

const withTimes = (
  status: NonNullable<Upgrade["status"]>,
  ...times: NonNullable<Upgrade["resourceUpgradeSpecs"]>
): PublishedUpgrade => ({ ...published("SCHEDULED"), upgrade: { id: "u", status, resourceUpgradeSpecs: times } });
const scheduled = withTimes("SCHEDULED", { resourceId: "a", scheduledTimestamp: time });

describe("changesNothing", () => {
  it("is so of the time that a scheduled upgrade has, however it is written, and of no time", () => {
    for (const commit of [
      { scheduledTimestamp: time },
      { scheduledTimestamp: sameTime },
      { scheduledTimestamp: time, upgradeNow: false },
      {},
    ])
      expect(changesNothing({ name: "commit", ...commit }, scheduled), JSON.stringify(commit)).to.equal(true);
  });

  it("is not so of another time, of none at all, and of a switchover", () => {
    const mgmtUpgradePatchSpecs = [{ resourceId: "m", startSwitchoverTimestamp: otherTime }];
    for (const commit of [
      { scheduledTimestamp: otherTime },
      { upgradeNow: true },
      { scheduledTimestamp: time, upgradeNow: true },
      { mgmtUpgradePatchSpecs },
      { scheduledTimestamp: time, mgmtUpgradePatchSpecs },
    ])
      expect(changesNothing({ name: "commit", ...commit }, scheduled), JSON.stringify(commit)).to.equal(false);
  });

  it("is not so of a commit that it waits for", () => {
    const task = { ...scheduled.task, waitingFor: { code: "COMMIT" as const, message: "Its time has passed." } };
    for (const commit of [{}, { scheduledTimestamp: time }])
      expect(changesNothing({ name: "commit", ...commit }, { ...scheduled, task })).to.equal(false);
    const running = published("RUNNING");
    expect(refused("commit", "RUNNING", { task: { ...running.task, waitingFor: task.waitingFor } })).to.equal(
      undefined,
    );
  });

  it("is not so where resources have times of their own", () => {
    const one = { resourceId: "a", scheduledTimestamp: time };
    for (const other of [{ resourceId: "b" }, { resourceId: "b", scheduledTimestamp: otherTime }])
      expect(changesNothing({ name: "commit", scheduledTimestamp: time }, withTimes("SCHEDULED", one, other))).to.equal(
        false,
      );
    expect(
      changesNothing(
        { name: "commit", scheduledTimestamp: time },
        withTimes("SCHEDULED", { ...one, upgradeNow: true }),
      ),
    ).to.equal(false);
  });

  it("is not so of an upgrade that is not scheduled", () => {
    for (const status of ["DRAFT", "PENDING", "INPROGRESS", "PAUSED"] as const)
      expect(
        changesNothing({ name: "commit" }, withTimes(status, { resourceId: "a", scheduledTimestamp: time })),
        status,
      ).to.equal(false);
  });

  it("is not so where a request has not been seen yet, nor of another request", () => {
    expect(changesNothing({ name: "commit" }, { ...scheduled, mayChange: true })).to.equal(false);
    for (const name of ["pause", "resume", "retry"] as const)
      expect(changesNothing({ name }, scheduled)).to.equal(false);
  });
});
