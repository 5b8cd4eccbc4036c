import { expect } from "chai";
import * as E from "fp-ts/Either";
import { ErrorBody } from "../../../src/domain/errors";
import type { ServerStanding } from "../../../src/domain/plan/schedule";
import {
  badPayload,
  beingCancelled,
  CommitPayload,
  type Decision,
  decideCommit,
  decidePause,
  decidePrechecks,
  decideResolve,
  decideResume,
  decideRetry,
  PlainPayload,
  type RequestContext,
} from "../../../src/domain/requests/upgrade-request";
import { statusOfPhase, type UpgradePhase } from "../../../src/domain/spec/upgrade";
import type { MgmtUpgradePatchSpec } from "../../../src/domain/spec/upgrade-spec";

const now = Date.parse("2026-11-01T12:00:00.000Z");
const phases: readonly UpgradePhase[] = [
  "ACCEPTED",
  "DRAFT_ACCEPTED",
  "DRAFT_PRECHECKS",
  "DRAFT_WAITING",
  "SCHEDULED",
  "START_MISSED",
  "RUNNING",
  "PAUSED",
  "SUCCESSFUL",
  "SUCCESSFUL_WITH_WARNING",
  "NOTHING_TO_DO",
  "FAILED",
  "CANCELLED",
];
const failedPrechecks = [{ errorCode: "HOST_NOT_CONNECTED", message: "Host esx-1 is not connected." }];

const fullHistory = { events: 30_000, bytes: 1_000_000 };

const standing = (phase: UpgradePhase, changes: Partial<RequestContext> = {}): RequestContext => ({
  phase,
  failedPrechecks: [],
  awaitsResolution: phase === "FAILED",
  startMissed: phase === "START_MISSED",
  isRetryable: phase === "FAILED",
  committed: false,
  cancelling: false,
  servers: [],
  history: { events: 100, bytes: 100_000 },
  now,
  approvals: undefined,
  askers: [],
  prechecksPassed: false,
  hasBegun: false,
  resources: [],
  skippedHosts: [],
  ...changes,
});

function codeOf(judged: E.Either<ErrorBody, unknown>): string {
  if (E.isRight(judged)) return "accepted";
  expect(ErrorBody.is(judged.left)).to.equal(true);
  expect(judged.left.remediationMessage).to.match(/\.$/);
  return judged.left.errorCode ?? "";
}

describe("decideCommit", () => {
  it("lets an upgrade ignore maintenance windows before its end, with a reason", () => {
    const override = { maintenanceWindow: "IGNORE", reason: "Zero-day" } as const;
    const waiting = ["DRAFT_ACCEPTED", "DRAFT_PRECHECKS", "DRAFT_WAITING", "ACCEPTED", "SCHEDULED", "START_MISSED"];
    for (const phase of phases) {
      const expected = [...waiting, "RUNNING", "PAUSED"].includes(phase) ? "accepted" : "REQUEST_NOT_POSSIBLE";
      expect(codeOf(decideCommit(override, standing(phase))), phase).to.equal(expected);
      const { maintenanceWindow } = override;
      expect(codeOf(decideCommit({ maintenanceWindow }, standing(phase)))).to.equal("OVERRIDE_WITHOUT_REASON");
      expect(codeOf(decideCommit({ reason: "Zero-day" }, standing(phase)))).to.equal("INVALID_FIELD");
    }
  });

  it("gives an upgrade that has begun no other time with the override, and no full history", () => {
    const override = { maintenanceWindow: "IGNORE", reason: "Zero-day", upgradeNow: true } as const;
    expect(codeOf(decideCommit(override, standing("SCHEDULED")))).to.equal("accepted");
    expect(codeOf(decideCommit(override, standing("RUNNING")))).to.equal("REQUEST_NOT_POSSIBLE");
    const history = { events: 26_000, bytes: 100_000 };
    const { upgradeNow: _, ...alone } = override;
    expect(codeOf(decideCommit(alone, standing("RUNNING", { history })))).to.equal("REQUEST_NOT_POSSIBLE");
  });

  it("accepts a commit of a draft and of an upgrade that has not begun, in no other phase", () => {
    const committable = ["DRAFT_ACCEPTED", "DRAFT_PRECHECKS", "DRAFT_WAITING", "ACCEPTED", "SCHEDULED", "START_MISSED"];
    for (const phase of phases) {
      const expected = committable.includes(phase) ? "accepted" : "REQUEST_NOT_POSSIBLE";
      expect(codeOf(decideCommit({}, standing(phase))), phase).to.equal(expected);
    }
  });

  it("accepts a commit of a running upgrade only where something of it was not begun at its time", () => {
    for (const phase of ["RUNNING", "PAUSED"] as const) {
      expect(codeOf(decideCommit({}, standing(phase, { startMissed: true }))), phase).to.equal("accepted");
      expect(codeOf(decideCommit({}, standing(phase))), phase).to.equal("REQUEST_NOT_POSSIBLE");
    }
  });

  it("hands on what the commit says of time", () => {
    const commit = { scheduledTimestamp: "2026-12-01T00:00:00.000Z", requestId: "r" };
    expect(decideCommit(commit, standing("DRAFT_WAITING"))).to.deep.equal(E.right(commit));
  });

  it("refuses a draft whose prechecks have failed, and says which", () => {
    const judged = decideCommit({}, standing("DRAFT_WAITING", { failedPrechecks }));
    expect(codeOf(judged)).to.equal("PRECHECKS_FAILED");
    expect(E.isLeft(judged) && judged.left.nestedErrors).to.deep.equal(failedPrechecks);
    expect(E.isLeft(judged) && judged.left.message).to.contain("Host esx-1 is not connected.");
  });

  it("accepts a commit while the prechecks run again after a failure", () => {
    expect(codeOf(decideCommit({}, standing("DRAFT_PRECHECKS", { failedPrechecks })))).to.equal("accepted");
  });

  it("refuses upgradeNow false without a time, in every phase", () => {
    for (const phase of phases)
      expect(codeOf(decideCommit({ upgradeNow: false }, standing(phase)))).to.equal("SCHEDULE_MISSING");
    const timed = { upgradeNow: false, scheduledTimestamp: "2026-12-01T00:00:00.000Z" };
    expect(codeOf(decideCommit(timed, standing("DRAFT_WAITING")))).to.equal("accepted");
  });

  describe("of another switchover time", () => {
    const time = "2026-12-01T00:00:00.000Z";
    const server = {
      resourceId: "vc-1",
      name: "fra1-vc01",
      mechanism: "ReducedDowntimeMigration",
      hasEnded: false,
    } as const;
    const patch = (changes: Partial<MgmtUpgradePatchSpec> = {}) => ({
      mgmtUpgradePatchSpecs: [{ resourceId: "vc-1", startSwitchoverTimestamp: time, ...changes }],
    });

    it("is accepted until the upgrade has ended, also while it runs", () => {
      const possible = ["ACCEPTED", "DRAFT_ACCEPTED", "DRAFT_PRECHECKS", "DRAFT_WAITING", "SCHEDULED", "START_MISSED"];
      for (const phase of phases) {
        const expected = [...possible, "RUNNING", "PAUSED"].includes(phase) ? "accepted" : "REQUEST_NOT_POSSIBLE";
        expect(codeOf(decideCommit(patch(), standing(phase, { servers: [server] }))), phase).to.equal(expected);
      }
      const failed = standing("DRAFT_WAITING", { servers: [server], failedPrechecks });
      expect(codeOf(decideCommit(patch(), failed)), "it commits nothing").to.equal("accepted");
      expect(codeOf(decideCommit({ ...patch(), upgradeNow: true }, failed))).to.equal("PRECHECKS_FAILED");
    });

    const refused: [string, CommitPayload, Partial<ServerStanding>, string][] = [
      ["of another server", patch({ resourceId: "vc-2" }), {}, "SERVER_UNKNOWN"],
      ["of one that is upgraded in place", patch(), { mechanism: "InPlace" }, "FIELD_NOT_FOR_MECHANISM"],
      ["of one that has ended", patch(), { hasEnded: true }, "REQUEST_NOT_POSSIBLE"],
      ["that has passed", patch({ startSwitchoverTimestamp: "2026-11-01T11:58:00.000Z" }), {}, "SCHEDULE_IN_THE_PAST"],
      ["before its upgrade", patch(), { scheduledTimestamp: "2026-12-02T00:00:00.000Z" }, "SWITCHOVER_BEFORE_UPGRADE"],
      [
        "before the time that comes with it",
        { ...patch(), scheduledTimestamp: "2026-12-02T00:00:00.000Z" },
        {},
        "SWITCHOVER_BEFORE_UPGRADE",
      ],
      [
        "twice",
        { mgmtUpgradePatchSpecs: [...patch().mgmtUpgradePatchSpecs, ...patch().mgmtUpgradePatchSpecs] },
        {},
        "RESOURCE_DUPLICATE",
      ],
    ];
    for (const [title, commit, changes, code] of refused) {
      it(`refuses one ${title}`, () => {
        const judged = decideCommit(commit, standing("SCHEDULED", { servers: [{ ...server, ...changes }] }));
        expect(codeOf(judged)).to.equal(code);
        const names = /[Mm]anagement server (.*?) (?:is|has)/.exec(E.isLeft(judged) ? judged.left.message : "")?.[1];
        expect(names, "its name, then its id").to.be.oneOf([undefined, "fra1-vc01 (vc-1)", "vc-2"]);
        if (code !== "REQUEST_NOT_POSSIBLE")
          expect(E.isLeft(judged) && judged.left.context?.["path"]).to.match(/^mgmtUpgradePatchSpecs\[\d\]\./);
      });
    }
  });

  it("refuses a time that has passed, unless upgradeNow overrules it", () => {
    const past = { scheduledTimestamp: "2026-11-01T11:58:59.999Z" };
    const refused = decideCommit(past, standing("DRAFT_WAITING"));
    expect(codeOf(refused)).to.equal("SCHEDULE_IN_THE_PAST");
    expect(E.isLeft(refused) && refused.left.message).to.contain(past.scheduledTimestamp);
    expect(codeOf(decideCommit({ ...past, upgradeNow: true }, standing("DRAFT_WAITING")))).to.equal("accepted");
    expect(codeOf(decideCommit({ scheduledTimestamp: "2026-11-01T11:59:00.000Z" }, standing("SCHEDULED")))).to.equal(
      "accepted",
    );
  });
});

for (const [name, judge] of [
  ["decideRetry", decideRetry],
  ["decideResolve", decideResolve],
] as const) {
  describe(name, () => {
    it("accepts only a failed upgrade that waits for a decision", () => {
      for (const phase of phases) {
        expect(codeOf(judge(standing(phase))), phase).to.equal(
          phase === "FAILED" ? "accepted" : "REQUEST_NOT_POSSIBLE",
        );
      }
      expect(codeOf(judge(standing("FAILED", { awaitsResolution: false })))).to.equal("REQUEST_NOT_POSSIBLE");
    });

    it("says where a refused upgrade stands", () => {
      const judged = judge(standing("RUNNING"));
      expect(E.isLeft(judged) && judged.left.context).to.deep.equal({ status: statusOfPhase("RUNNING").upgrade });
    });
  });
}

describe("decidePause and decideResume", () => {
  it("accept a pause of a running upgrade only, and a resumption of a paused one only", () => {
    for (const phase of phases) {
      expect(codeOf(decidePause(standing(phase))), phase).to.equal(
        phase === "RUNNING" ? "accepted" : "REQUEST_NOT_POSSIBLE",
      );
      expect(codeOf(decideResume(standing(phase))), phase).to.equal(
        phase === "PAUSED" ? "accepted" : "REQUEST_NOT_POSSIBLE",
      );
    }
  });

  it("tell what runs not yet from what is paused and what is over", () => {
    const reasonOf = (phase: UpgradePhase) => {
      const judged = decidePause(standing(phase));
      return E.isLeft(judged) ? judged.left.message : "";
    };
    expect(reasonOf("SCHEDULED")).to.contain("is not running").and.to.contain("SCHEDULED");
    expect(reasonOf("PAUSED")).to.contain("already paused");
    expect(reasonOf("FAILED")).to.contain("Only a running upgrade");
  });
});

describe("decidePrechecks", () => {
  it("accepts a draft that waits, also after prechecks that failed, and nothing else", () => {
    for (const phase of phases)
      expect(codeOf(decidePrechecks(standing(phase))), phase).to.equal(
        phase === "DRAFT_WAITING" ? "accepted" : "REQUEST_NOT_POSSIBLE",
      );
    expect(codeOf(decidePrechecks(standing("DRAFT_WAITING", { failedPrechecks })))).to.equal("accepted");
    for (const change of [{ committed: true }, { history: fullHistory }])
      expect(codeOf(decidePrechecks(standing("DRAFT_WAITING", change)))).to.equal("REQUEST_NOT_POSSIBLE");
  });

  it("says of running prechecks that they run", () => {
    const judged = decidePrechecks(standing("DRAFT_PRECHECKS"));
    expect(E.isLeft(judged) && judged.left.message).to.contain("already running");
  });
});

describe("an upgrade whose history is full", () => {
  const full = (phase: UpgradePhase) => standing(phase, { history: fullHistory });

  it("takes no other time, no pause and no retry, and says what to do instead", () => {
    for (const judged of [
      decideCommit({ scheduledTimestamp: "2026-12-01T00:00:00Z" }, full("SCHEDULED")),
      decidePause(full("RUNNING")),
      decideRetry(full("FAILED")),
    ]) {
      expect(codeOf(judged)).to.equal("REQUEST_NOT_POSSIBLE");
      expect(E.isLeft(judged) && judged.left.message).to.contain("history of the upgrade is full");
    }
  });

  it("is full earlier for the pauses of a script", () => {
    const history = { events: 6_000, bytes: 1_000_000 };
    const pause = (requests: number) => codeOf(decidePause(standing("RUNNING", { history, requests })));
    expect([pause(20), pause(200)]).to.deep.equal(["accepted", "REQUEST_NOT_POSSIBLE"]);
    expect(codeOf(decideResume(standing("PAUSED", { history, requests: 400 })))).to.equal("accepted");
  });

  it("still begins, goes on and ends", () => {
    for (const judged of [
      decideCommit({ upgradeNow: true }, full("SCHEDULED")),
      decideCommit({}, full("DRAFT_WAITING")),
      decideResume(full("PAUSED")),
      decideResolve(full("FAILED")),
    ])
      expect(codeOf(judged)).to.equal("accepted");
  });
});

describe("an upgrade that is being cancelled", () => {
  it("takes no request, and says what to do instead", () => {
    const refused = beingCancelled("pause", standing("RUNNING", { cancelling: true }));
    expect(codeOf(E.left(refused))).to.equal("REQUEST_NOT_POSSIBLE");
    expect(refused.message).to.contain("being cancelled");
  });
});

describe("an upgrade that failed for good", () => {
  it("can be resolved, not retried", () => {
    const context = standing("FAILED", { isRetryable: false });
    expect(codeOf(decideResolve(context))).to.equal("accepted");
    const retry = decideRetry(context);
    expect(codeOf(retry)).to.equal("REQUEST_NOT_POSSIBLE");
    expect(E.isLeft(retry) && retry.left.remediationMessage).to.match(/^Resolve it/);
  });
});

describe("a failed upgrade about which somebody else has just decided", () => {
  const refusals = (decision?: Decision) =>
    [decideRetry, decideResolve].map((judge) => {
      const judged = judge(standing("FAILED", { awaitsResolution: false, decision }));
      if (E.isRight(judged)) throw new Error("It was accepted");
      return judged.left;
    });

  it("says that another retry was faster, or that it was given up or its time has passed", () => {
    for (const [decision, happened, next] of [
      ["retry", /is already being retried\.$/, /^Read the upgrade's Task/],
      ["resolve", /has already been resolved\.$/, /^Start a new upgrade/],
      [undefined, /deadline for retrying or resolving the failed upgrade has passed\.$/, /^Start a new upgrade/],
    ] as const)
      for (const { message, remediationMessage, context } of refusals(decision)) {
        expect(message).to.match(happened);
        expect(remediationMessage).to.match(next);
        expect(context).to.deep.equal({ status: "COMPLETED_WITH_FAILURE" });
      }
  });

  it("goes on, and another retry is told so as long as it does", () => {
    for (const phase of ["ACCEPTED", "RUNNING", "PAUSED"] as const) {
      const judged = decideRetry(standing(phase, { decision: "retry" }));
      expect(E.isLeft(judged) && judged.left.message).to.match(/already being retried/);
    }
    const ended = decideRetry(standing("SUCCESSFUL", { decision: "retry" }));
    expect(E.isLeft(ended) && ended.left.message).to.match(/^Only a failed upgrade .* COMPLETED_WITH_SUCCESS/);
    expect(codeOf(decideRetry(standing("FAILED", { decision: undefined })))).to.equal("accepted");
  });

  it("is not told that it would have to be failed, which it is", () => {
    for (const decision of ["retry", "resolve", undefined] as const)
      for (const { message, remediationMessage } of refusals(decision)) {
        expect(message).to.not.match(/Only a failed upgrade|This one is/);
        expect(remediationMessage).to.not.match(/again/);
      }
  });
});

describe("payloads of Signals", () => {
  it("may be empty, and are checked where they are not", () => {
    for (const codec of [CommitPayload, PlainPayload]) {
      expect(E.isRight(codec.decode({}))).to.equal(true);
      for (const wrong of [null, "now", [], { requestId: 7 }, { requestedBy: "x".repeat(1025) }]) {
        expect(E.isLeft(codec.decode(wrong)), JSON.stringify(wrong)).to.equal(true);
      }
    }
    expect(E.isLeft(CommitPayload.decode({ scheduledTimestamp: "tomorrow" }))).to.equal(true);
    expect(E.isLeft(CommitPayload.decode({ upgradeNow: "true" }))).to.equal(true);
  });

  it("are refused with an example of what would do", () => {
    for (const request of ["commit", "pause", "resume", "prechecks", "retry", "resolve"]) {
      const { errorCode, message, remediationMessage = "" } = badPayload(request);
      expect(errorCode).to.equal("SIGNAL_PAYLOAD_INVALID");
      expect(message).to.contain(request);
      const examples = [...remediationMessage.matchAll(/\{[^}]*\}/g)].map(([json]): unknown => JSON.parse(json));
      const codec = request === "commit" ? CommitPayload : PlainPayload;
      expect(examples).not.to.be.empty;
      for (const example of examples) {
        const decoded = codec.decode(example);
        expect(E.isRight(decoded) && Object.keys(decoded.right)).to.deep.equal(Object.keys(example as object));
      }
    }
  });
});
