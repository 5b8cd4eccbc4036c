import { expect } from "chai";
import * as E from "fp-ts/Either";
import type { MaintenancePlace } from "../../../src/domain/opening";
import {
  type ChangeFreeze,
  maintenanceCalendar,
  type MaintenanceWindow,
} from "../../../src/inventory/maintenance-calendar";

const saturdays: MaintenanceWindow = {
  id: "saturdays",
  timeZone: "Europe/Berlin",
  recurrence: "FREQ=WEEKLY;BYDAY=SA",
  start: "22:00",
  duration: "PT6H",
  lastStartBefore: "PT45M",
};
const nights: MaintenanceWindow = {
  id: "nights",
  timeZone: "Europe/Berlin",
  recurrence: "FREQ=DAILY",
  start: "02:30",
  duration: "PT1H",
};
const endOfYear: ChangeFreeze = {
  id: "end-of-year",
  from: "2026-12-19T23:00:00Z",
  until: "2027-01-02T22:00:00Z",
  reason: "Annual accounts",
};

describe("the maintenance calendar", () => {
  function calendarOf(windows: readonly MaintenanceWindow[], freezes: readonly ChangeFreeze[] = []) {
    const calendar = maintenanceCalendar(windows, freezes);
    if (E.isLeft(calendar)) throw new Error(calendar.left.join("\n"));
    return (place: Omit<MaintenancePlace, "domain"> & { readonly domain?: string }, now: string) =>
      readable(calendar.right.at([{ domain: "fra1", ...place }], Date.parse(now)));
  }
  const readable = ({ closesAt, opensAt, opensAgainAt: _again, ...opening }: Record<string, unknown>) => ({
    ...opening,
    ...(closesAt !== undefined && { closesAt: new Date(closesAt as number).toISOString() }),
    ...(opensAt !== undefined && { opensAt: new Date(opensAt as number).toISOString() }),
  });
  const onSaturday = { maintenanceWindow: "saturdays" };
  const atNight = { maintenanceWindow: "nights" };

  it("opens at the local time and closes the last start before its end", () => {
    const at = calendarOf([saturdays]);
    const closed = { isOpen: false, because: "OUTSIDE_MAINTENANCE_WINDOW", id: "saturdays" };
    expect(at(onSaturday, "2026-11-28T20:59:59.999Z")).to.deep.equal({
      ...closed,
      opensAt: "2026-11-28T21:00:00.000Z",
    });
    expect(at(onSaturday, "2026-11-28T21:00:00Z")).to.deep.equal({
      isOpen: true,
      closesAt: "2026-11-29T02:15:00.000Z",
    });
    expect(at(onSaturday, "2026-11-29T02:14:59.999Z")).to.include({ isOpen: true });
    expect(at(onSaturday, "2026-11-29T02:15:00Z")).to.deep.equal({ ...closed, opensAt: "2026-12-05T21:00:00.000Z" });
  });

  it("counts every second week from the first Monday of 2024, and weekdays of a month", () => {
    const opensAt = (recurrence: string) =>
      calendarOf([{ ...saturdays, recurrence }])(onSaturday, "2026-11-23T12:00:00Z")["opensAt"];
    expect(opensAt("FREQ=WEEKLY;INTERVAL=2;BYDAY=TU,TH")).to.equal("2026-12-01T21:00:00.000Z");
    expect(opensAt("FREQ=MONTHLY;BYDAY=+2SU")).to.equal("2026-12-13T21:00:00.000Z");
    expect(opensAt("FREQ=MONTHLY;BYDAY=FR;BYSETPOS=-1")).to.equal("2026-11-27T21:00:00.000Z");
  });

  it("is open at any time without a window", () => {
    expect(calendarOf([saturdays])({}, "2026-11-25T12:00:00Z")).to.deep.equal({ isOpen: true });
  });

  it("follows the clocks: a time that they skip is the moment after, of one that they show twice the first counts", () => {
    const at = calendarOf([saturdays, nights]);
    // In Berlin, 02:00 was 03:00 on 29 March, and 03:00 was 02:00 on 25 October.
    expect(at(atNight, "2026-03-29T00:30:00Z")).to.include({ opensAt: "2026-03-29T01:30:00.000Z" });
    expect(at(atNight, "2026-03-29T01:30:00Z")).to.deep.equal({ isOpen: true, closesAt: "2026-03-29T02:30:00.000Z" });
    expect(at(atNight, "2026-10-25T00:30:00Z")).to.deep.equal({ isOpen: true, closesAt: "2026-10-25T01:30:00.000Z" });
    expect(at(atNight, "2026-10-25T01:30:00Z")).to.include({ isOpen: false, opensAt: "2026-10-26T01:30:00.000Z" });
    // Six hours are six hours, so that the last start is 04:15 of summer time, and 02:15 of winter time.
    expect(at(onSaturday, "2026-03-28T21:00:00Z")).to.include({ closesAt: "2026-03-29T02:15:00.000Z" });
    expect(at(onSaturday, "2026-10-24T20:00:00Z")).to.include({ closesAt: "2026-10-25T01:15:00.000Z" });
  });

  it("is closed by a freeze, and opens with the window after it", () => {
    const at = calendarOf([saturdays], [endOfYear]);
    const frozen = { isOpen: false, because: "CHANGE_FREEZE", id: "end-of-year", reason: "Annual accounts" };
    // In the middle of a window.
    expect(at(onSaturday, "2026-12-19T21:00:00Z")).to.deep.equal({
      isOpen: true,
      closesAt: "2026-12-19T23:00:00.000Z",
    });
    expect(at(onSaturday, "2026-12-19T23:00:00Z")).to.deep.equal({ ...frozen, opensAt: "2027-01-02T22:00:00.000Z" });
    expect(at({}, "2026-12-31T00:00:00Z")).to.deep.equal({ ...frozen, opensAt: "2027-01-02T22:00:00.000Z" });
    expect(at(onSaturday, "2027-01-02T22:00:00Z")).to.include({ isOpen: true });
    const forMunich = calendarOf([saturdays], [{ ...endOfYear, domains: ["muc1"] }]);
    expect(forMunich({}, "2026-12-31T00:00:00Z")).to.deep.equal({ isOpen: true });
    expect(forMunich({ domain: "muc1" }, "2026-12-31T00:00:00Z")).to.include({ isOpen: false });
  });

  it("is open for a resource of several places only where all are", () => {
    const calendar = maintenanceCalendar([saturdays, nights], []);
    if (E.isLeft(calendar)) throw new Error(calendar.left.join("\n"));
    const places = [{ domain: "fra1", ...onSaturday }, { domain: "muc1", ...atNight }, { domain: "ams1" }];
    const at = (now: string) => readable({ ...calendar.right.at(places, Date.parse(now)) });
    expect(at("2026-11-28T21:30:00Z")).to.include({ isOpen: false, id: "nights", opensAt: "2026-11-29T01:30:00.000Z" });
    expect(at("2026-11-29T01:30:00Z")).to.deep.equal({ isOpen: true, closesAt: "2026-11-29T02:15:00.000Z" });
    expect(at("2026-11-29T02:20:00Z")).to.include({ isOpen: false, id: "saturdays" });
  });

  it("is open for what ignores it, in a freeze too, and closed for the rest of the places", () => {
    const freezes = [
      { id: "year-end", from: "2026-12-01T00:00:00Z", until: "2027-01-01T00:00:00Z", reason: "Accounts" },
    ];
    const calendar = maintenanceCalendar([saturdays, nights], freezes);
    if (E.isLeft(calendar)) throw new Error(calendar.left.join("\n"));
    const { at } = calendar.right;
    const ignored = { domain: "fra1", ...onSaturday, ignoresCalendar: true as const };
    expect(at([ignored], Date.parse("2026-12-24T12:00:00Z"))).to.deep.equal({ isOpen: true });
    expect(at([ignored, { domain: "muc1" }], Date.parse("2026-12-24T12:00:00Z"))).to.include({ isOpen: false });
  });

  it("says when an open window opens again, after a freeze that begins meanwhile", () => {
    const freezes = [{ id: "audit", from: "2026-11-29T00:00:00Z", until: "2026-12-06T00:00:00Z", reason: "Audit" }];
    const again = (all: readonly ChangeFreeze[], now: string) => {
      const calendar = maintenanceCalendar([saturdays, nights], all);
      if (E.isLeft(calendar)) throw new Error(calendar.left.join("\n"));
      const opening = calendar.right.at([{ domain: "fra1", ...onSaturday }], Date.parse(now));
      return opening.isOpen && new Date(opening.opensAgainAt ?? 0).toISOString();
    };
    expect(again([], "2026-11-28T21:30:00Z")).to.equal("2026-12-05T21:00:00.000Z");
    expect(again(freezes, "2026-11-28T21:30:00Z")).to.equal("2026-12-06T00:00:00.000Z");
  });

  it("says that a window never opens again", () => {
    const past = { ...nights, recurrence: "FREQ=DAILY;UNTIL=20260101T000000Z" };
    expect(calendarOf([past])(atNight, "2026-11-25T12:00:00Z")).to.deep.equal({
      isOpen: false,
      because: "OUTSIDE_MAINTENANCE_WINDOW",
      id: "nights",
    });
  });

  it("names everything that is wrong", () => {
    const wrong = (window: Partial<MaintenanceWindow>) => {
      const calendar = maintenanceCalendar([{ ...nights, ...window }], []);
      return E.isLeft(calendar) ? calendar.left.join(" ") : "";
    };
    expect(wrong({ timeZone: "Europe/Frankfurt" })).to.match(/^The timeZone of maintenance window nights/);
    expect(wrong({ start: "25:00" })).to.match(/^The start of maintenance window nights/);
    for (const duration of ["6h", "PT0S", "P8D", "P1M", "-PT1H"])
      expect(wrong({ duration }), duration).to.match(/^The duration of maintenance window nights/);
    for (const lastStartBefore of ["PT1H", "soon"])
      expect(wrong({ lastStartBefore }), lastStartBefore).to.match(/^The lastStartBefore of maintenance window nights/);
    for (const recurrence of [
      ...["", "every day", "FREQ=HOURLY", "FREQ=DAILY;COUNT=3", "FREQ=DAILY;BYHOUR=3", "FREQ=WEEKLY;BYDAY=XX"],
      ...["FREQ=DAILY;INTERVAL=0", "FREQ=DAILY;INTERVAL=x", "FREQ=MONTHLY;BYMONTHDAY=40", "DTSTART:20260101T000000Z"],
      ...["FREQ=MONTHLY;BYMONTHDAY=1,40", "FREQ=WEEKLY;BYDAY=SA;BYDAY=SU"],
    ])
      expect(wrong({ recurrence }), recurrence).to.match(/^The recurrence of maintenance window nights/);
    const twice = maintenanceCalendar([nights, nights], [{ ...endOfYear, until: endOfYear.from }]);
    expect(twice).to.deep.equal(
      E.left(["Maintenance window nights occurs twice.", "Freeze end-of-year ends before it begins."]),
    );
  });
});
