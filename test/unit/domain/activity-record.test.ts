import { expect } from "chai";
import { addActivity, emptyRecord } from "../../../src/domain/activity/activity-record";
import { ActivityRecord, type NewActivity } from "../../../src/domain/activity/upgrade-activity";

const time = "2026-12-01T09:30:00.000Z";
const later = "2026-12-01T10:30:00.000Z";

const pause: NewActivity = { time, kind: "PAUSE", outcome: "ACCEPTED", actor: "ada", via: "HTTP" };
const refused: NewActivity = {
  ...pause,
  outcome: "REFUSED",
  errorCode: "REQUEST_NOT_POSSIBLE",
  message: "It is paused already.",
};

const recordOf = (entries: readonly NewActivity[]) => entries.reduce(addActivity, emptyRecord);

describe("The record of an upgrade's activity", () => {
  it("keeps entries in their order, each with its number", () => {
    const { entries, dropped } = recordOf([pause, { time: later, kind: "STARTED" }]);
    expect(entries).to.deep.equal([
      { sequence: 1, ...pause },
      { sequence: 2, time: later, kind: "STARTED" },
    ]);
    expect(dropped).to.equal(0);
  });

  it("counts a refusal that is repeated at the first one, also with other refusals in between", () => {
    const byBob = { ...refused, actor: "bob" };
    const { entries } = recordOf([refused, byBob, { ...refused, time: later }, { ...refused, time: later }]);
    expect(entries).to.deep.equal([
      { sequence: 1, ...refused, repeated: 2, lastTime: later },
      { sequence: 2, ...byBob },
    ]);
  });

  it("keeps a refusal apart that has another reason, another way or another time of the story", () => {
    const others = [
      { ...refused, errorCode: "PRECHECKS_FAILED" },
      { ...refused, via: "SIGNAL" as const },
      { ...refused, kind: "RESUME" as const },
    ];
    expect(recordOf([refused, ...others]).entries).to.have.length(4);
    expect(recordOf([refused, { time, kind: "STARTED" }, refused]).entries).to.have.length(3);
  });

  it("counts accepted requests one by one", () => {
    expect(recordOf([pause, pause]).entries).to.have.length(2);
  });

  it("keeps the first hundred and the latest of too many entries, and says how many are gone", () => {
    const { entries, dropped } = recordOf(Array.from({ length: 620 }, () => pause));
    expect(entries).to.have.length(500);
    expect(dropped).to.equal(120);
    expect(entries.map(({ sequence }) => sequence)).to.deep.equal([
      ...Array.from({ length: 100 }, (_, i) => i + 1),
      ...Array.from({ length: 400 }, (_, i) => i + 221),
    ]);
  });

  it("cuts what is long, between characters, so that the record fits into one payload", () => {
    const message = "\u{1f600}".repeat(1000);
    const record = recordOf([{ ...refused, actor: "x".repeat(1000), message }]);
    expect(ActivityRecord.is(record)).to.equal(true);
    const [entry] = record.entries;
    expect(entry?.actor).to.have.length(255);
    expect(entry?.message).to.match(/^(?:\u{1f600}){249}…$/u);
    const largest = { time, kind: "HOST_FAILED" as const, ...largestTexts(message) };
    const full = recordOf(Array.from({ length: 600 }, () => largest));
    expect(Buffer.byteLength(JSON.stringify(full))).to.be.below(2 * 1024 * 1024);
  });
});

function largestTexts(text: string) {
  const long = "é".repeat(1000);
  return {
    actor: long,
    message: text,
    errorCode: "HOST_NOT_BACK_IN_SERVICE",
    resourceId: "r".repeat(255),
    resourceName: long,
    hostId: long,
    hostName: long,
  };
}
