import { expect } from "chai";
import { CliError, exitCode } from "../../../src/cli/errors";
import { parsePastTime, parseTime, timeEcho, type Zones, zonesOf } from "../../../src/cli/time-text";

const berlin: Zones = { given: "Europe/Berlin", local: "Europe/Berlin" };
/** A Wednesday, 15:30 in Berlin. */
const now = Date.parse("2036-01-02T14:30:00Z");

const parsed = (text: string, zones = berlin, at = now) => new Date(parseTime(text, zones, at)).toISOString();

function refusal(text: string, zones = berlin, at = now): CliError {
  try {
    parseTime(text, zones, at);
  } catch (error) {
    expect(error).to.be.instanceOf(CliError);
    return error as CliError;
  }
  throw new Error(`${text} was taken for a time`);
}

describe("times as people write them", () => {
  for (const [text, expected] of [
    ["Sat 02:00", "2036-01-05T01:00:00.000Z"],
    ["saturday at 2am", "2036-01-05T01:00:00.000Z"],
    ["02:00 Sat", "2036-01-05T01:00:00.000Z"],
    ["Wed 16:00", "2036-01-02T15:00:00.000Z"],
    // Of today, but past: the next one.
    ["Wed 15:00", "2036-01-09T14:00:00.000Z"],
    ["16:00", "2036-01-02T15:00:00.000Z"],
    ["15:00", "2036-01-03T14:00:00.000Z"],
    ["today 23:59:30", "2036-01-02T22:59:30.000Z"],
    ["tomorrow 2am", "2036-01-03T01:00:00.000Z"],
    ["tomorrow, 12:30 am", "2036-01-02T23:30:00.000Z"],
    ["tomorrow 12pm", "2036-01-03T11:00:00.000Z"],
    ["in 3h", "2036-01-02T17:30:00.000Z"],
    ["in 1h30m", "2036-01-02T16:00:00.000Z"],
    ["in 90 min", "2036-01-02T16:00:00.000Z"],
    ["in 2 days", "2036-01-04T14:30:00.000Z"],
    ["6 Jan 02:00", "2036-01-06T01:00:00.000Z"],
    ["January 6 02:00", "2036-01-06T01:00:00.000Z"],
    // Past in this year.
    ["1 Jan 02:00", "2037-01-01T01:00:00.000Z"],
    ["1 July 2036 02:00", "2036-07-01T00:00:00.000Z"],
    ["2036-01-06 02:00", "2036-01-06T01:00:00.000Z"],
    ["2036-01-06T02:00", "2036-01-06T01:00:00.000Z"],
    ["2036-01-06T02:00:00+03:00", "2036-01-05T23:00:00.000Z"],
    ["2036-01-06T02:00:00Z", "2036-01-06T02:00:00.000Z"],
    ["Sat 02:00 America/New_York", "2036-01-05T07:00:00.000Z"],
    ["Sat 02:00 UTC", "2036-01-05T02:00:00.000Z"],
  ] as const)
    it(`"${text}" is ${expected}`, () => expect(parsed(text)).to.equal(expected));

  for (const text of [
    "",
    "soon",
    "Sat",
    "25:00",
    "13pm",
    "0am",
    "2:60",
    "7",
    "in",
    "in 3",
    "in h",
    "30 Feb 02:00",
    "2036-02-30 02:00",
    "satx 02:00",
    "06/01 02:00",
    "Sat 02:00 03:00",
  ])
    it(`"${text}" is none, and the error shows how to write one`, () => {
      const { code, message, nextStep } = refusal(text);
      expect(code).to.equal(exitCode.wrongUsage);
      expect(message).to.contain("--at").and.to.contain("not a time");
      expect(nextStep).to.contain("tomorrow 2am");
    });

  for (const [text, expected] of [
    ["8h", "2036-01-02T06:30:00.000Z"],
    ["1d 2h ago", "2036-01-01T12:30:00.000Z"],
    ["06:00", "2036-01-02T05:00:00.000Z"],
    ["18:00", "2036-01-01T17:00:00.000Z"],
    ["today", "2036-01-01T23:00:00.000Z"],
    ["yesterday 18:00", "2036-01-01T17:00:00.000Z"],
    ["Fri", "2035-12-27T23:00:00.000Z"],
    ["Wed 16:00", "2035-12-26T15:00:00.000Z"],
    ["24 Dec 18:00", "2035-12-24T17:00:00.000Z"],
    ["2036-01-01", "2035-12-31T23:00:00.000Z"],
  ] as const)
    it(`since "${text}" is since ${expected}`, () =>
      expect(new Date(parsePastTime(text, berlin, now)).toISOString()).to.equal(expected));

  it("since no time shows how to write one", () =>
    expect(() => parsePastTime("lately", berlin, now)).to.throw(CliError, "--since"));

  it("a day after a change of the clocks is at the same time of day, three hours are three hours", () => {
    const before = Date.parse("2036-03-29T14:30:00Z");
    expect(parsed("in 1 day", berlin, before)).to.equal("2036-03-30T13:30:00.000Z");
    expect(parsed("in 24h", berlin, before)).to.equal("2036-03-30T14:30:00.000Z");
  });

  it("a time that the clocks go over is refused, whatever the day is called", () => {
    const before = Date.parse("2036-03-28T14:30:00Z");
    for (const text of ["2036-03-30 02:30", "Sun 02:30", "30 March 2:30am"]) {
      const { message, nextStep } = refusal(text, berlin, before);
      expect(message).to.contain("2036-03-30 02:30 does not exist in Europe/Berlin");
      expect(nextStep).to.contain("03:30");
    }
  });

  it("a time that comes twice is refused, with both", () => {
    const { message, nextStep } = refusal("2036-10-26 02:30");
    expect(message).to.contain("occurs twice in Europe/Berlin");
    expect(nextStep).to.contain("2036-10-26T02:30:00+02:00 or 2036-10-26T02:30:00+01:00");
    expect(parsed("2036-10-26T02:30:00+01:00")).to.equal("2036-10-26T01:30:00.000Z");
  });

  it("is echoed in its zone, that of the computer and UTC", () => {
    const at = Date.parse("2036-01-05T01:00:00Z");
    expect(timeEcho(at, berlin, now)).to.equal(
      "Sat 2036-01-05 02:00 Europe/Berlin (+01:00) = Sat 2036-01-05 01:00 UTC, in 2 d 10 h",
    );
    expect(timeEcho(at, { given: "Europe/Berlin", local: "America/New_York" }, now)).to.contain(
      "= Fri 2036-01-04 20:00 America/New_York (-05:00) = Sat 2036-01-05 01:00 UTC",
    );
    expect(timeEcho(at, { given: "UTC", local: "UTC" }, now)).to.equal("Sat 2036-01-05 01:00 UTC, in 2 d 10 h");
    expect(timeEcho(at, { given: "UTC", local: "Etc/UTC" }, now)).to.equal("Sat 2036-01-05 01:00 UTC, in 2 d 10 h");
  });

  it("the zone of the option goes before the context's, and that before the computer's", () => {
    const env = { TZ: "America/New_York" };
    expect(zonesOf({}, env)).to.deep.equal({ given: "America/New_York", local: "America/New_York" });
    expect(zonesOf({ contextZone: "Europe/Berlin" }, env).given).to.equal("Europe/Berlin");
    expect(zonesOf({ zone: "Asia/Tokyo", contextZone: "Europe/Berlin" }, env).given).to.equal("Asia/Tokyo");
    expect(() => zonesOf({ zone: "Berlin" }, env)).to.throw(CliError, "no time zone");
  });
});
