import { expect } from "chai";
import fc from "fast-check";
import * as E from "fp-ts/Either";
import { problemsOf } from "../../../src/domain/decode";
import { Timestamp, toEpochMilliseconds, toTimestamp } from "../../../src/domain/timestamp";

describe("Timestamp", () => {
  const read: Readonly<Record<string, string>> = {
    "2026-12-01T09:30:00Z": "2026-12-01T09:30:00.000Z",
    "2026-12-01T09:30:00.000Z": "2026-12-01T09:30:00.000Z",
    "2026-12-01t09:30:00z": "2026-12-01T09:30:00.000Z",
    "2026-12-01T11:30:00+02:00": "2026-12-01T09:30:00.000Z",
    "2026-12-01T00:15:00+05:45": "2026-11-30T18:30:00.000Z",
    "2026-12-31T23:00:00-01:30": "2027-01-01T00:30:00.000Z",
    "2026-12-01T09:30:00-00:00": "2026-12-01T09:30:00.000Z",
    "2026-12-01T09:30:00.5Z": "2026-12-01T09:30:00.500Z",
    "2026-12-01T09:30:00.25+00:00": "2026-12-01T09:30:00.250Z",
    "2026-12-01T09:30:00.123456Z": "2026-12-01T09:30:00.123Z",
    "2026-12-01T09:30:00.999999999Z": "2026-12-01T09:30:00.999Z",
    "2026-12-01T09:30Z": "2026-12-01T09:30:00.000Z",
    "2026-12-01 09:30:00Z": "2026-12-01T09:30:00.000Z",
    "2026-12-01 09:30z": "2026-12-01T09:30:00.000Z",
    "2026-12-01T11:30:00+0200": "2026-12-01T09:30:00.000Z",
    "2026-12-01T11:30+02": "2026-12-01T09:30:00.000Z",
    "2026-12-01 10:30:00 +0100": "2026-12-01T09:30:00.000Z",
    "2026-12-01t04:00:00,25-0530": "2026-12-01T09:30:00.250Z",
    "2028-02-29T00:00:00Z": "2028-02-29T00:00:00.000Z",
    "0000-01-01T00:00:00Z": "0000-01-01T00:00:00.000Z",
    "9999-12-31T23:59:59.999Z": "9999-12-31T23:59:59.999Z",
  };
  for (const [text, expected] of Object.entries(read)) {
    it(`reads ${text}`, () => expect(Timestamp.decode(text)).to.deep.equal(E.right(expected)));
  }

  const refused: readonly (readonly [unknown, string])[] = [
    ["2026-12-01T09:30:00", "no zone"],
    ["2026-12-01", "no time"],
    ["2026-12-01T09:30:00.Z", "an empty fraction"],
    ["2026-12-01T09:30:00.1234567890Z", "more than nanoseconds"],
    ["2026-12-01T09:30.5Z", "a fraction of a minute"],
    ["2026-12-01T09:30:00+2", "an offset of one digit"],
    ["2026-12-01T09:30:00 CET", "a zone by its name"],
    ["2026-12-01  09:30:00Z", "two spaces"],
    ["20261201T093000Z", "no hyphens and colons"],
    ["2026-12-01T09:30:00+24:00", "an offset of a day"],
    ["2026-02-30T00:00:00Z", "30 February"],
    ["2027-02-29T00:00:00Z", "29 February of a common year"],
    ["2026-04-31T00:00:00+02:00", "31 April"],
    ["2026-13-01T00:00:00Z", "month 13"],
    ["2026-00-01T00:00:00Z", "month 0"],
    ["2026-12-00T00:00:00Z", "day 0"],
    ["2026-12-01T24:00:00Z", "hour 24"],
    ["2026-12-01T09:60:00Z", "minute 60"],
    ["2016-12-31T23:59:60Z", "a leap second, which no clock of ours has"],
    ["9999-12-31T23:59:59-01:00", "a moment past the year 9999"],
    ["0000-01-01T00:00:00+01:00", "a moment before the year 0"],
    ["+10000-01-01T00:00:00Z", "a year of five digits"],
    [" 2026-12-01T09:30:00Z", "a space before it"],
    ["2026-12-01T09:30:00Z\n", "a line break after it"],
    ["", "nothing"],
    [1796117400000, "a number"],
    [null, "null"],
  ];
  for (const [value, why] of refused) {
    it(`refuses ${why}: ${JSON.stringify(value)}`, () => expect(E.isLeft(Timestamp.decode(value))).to.equal(true));
  }

  it("says in what a text differs from a time", () => {
    const differs: Readonly<Record<string, string>> = {
      "2026-12-01T09:30:00": "its zone is missing",
      "2026-12-01 09:30": "its zone is missing",
      "2026-12-01T09:30:00 CET": "its zone is neither Z nor an offset",
      "2026-12-01T09:30:00+25:00": "its zone is neither Z nor an offset",
      "2026-12-01": "the time of day and its zone are missing",
      "2026-02-30T00:00:00Z": "there is no day 2026-02-30",
      "2026-13-01T00:00:00Z": "there is no day 2026-13-01",
      "2026-12-01T24:00:00Z": "there is no time of day 24:00:00",
      "2026-12-01T09h30Z": "the time of day is not written",
      " 2026-12-01T09:30:00Z": "a space before or after it",
      "26-12-01T09:30:00Z": "4, 2 and 2 digits",
      tomorrow: "does not begin with year, month and day",
      "9999-12-31T23:59:59-01:00": "not from the years 0000 to 9999",
    };
    for (const [text, expected] of Object.entries(differs)) {
      const decoded = Timestamp.decode(text);
      const [problem] = E.isLeft(decoded) ? problemsOf(decoded.left, "It", 1).problems : [];
      expect(problem?.message, text).to.contain(expected);
    }
  });

  it("is one spelling only once decoded", () => {
    expect(Timestamp.is("2026-12-01T09:30:00.000Z")).to.equal(true);
    for (const other of ["2026-12-01T09:30:00Z", "2026-12-01T09:30:00.000+00:00", "2026-02-30T00:00:00.000Z", 1]) {
      expect(Timestamp.is(other), String(other)).to.equal(false);
    }
  });

  it("reads any offset as the same moment, to the millisecond", () =>
    fc.assert(
      fc.property(
        fc.integer({ min: Date.parse("0001-01-01T00:00:00Z"), max: Date.parse("9998-12-31T00:00:00Z") }),
        fc.integer({ min: -(24 * 60 - 1), max: 24 * 60 - 1 }),
        (at, offset) => {
          const local = new Date(at + offset * 60_000).toISOString().slice(0, -1);
          const digits = (n: number) => String(n).padStart(2, "0");
          const minutes = Math.abs(offset);
          const zone = `${offset < 0 ? "-" : "+"}${digits(Math.floor(minutes / 60))}:${digits(minutes % 60)}`;
          expect(Timestamp.decode(`${local}${zone}`)).to.deep.equal(E.right(toTimestamp(at)));
          expect(toEpochMilliseconds(toTimestamp(at))).to.equal(at);
        },
      ),
    ));
});
