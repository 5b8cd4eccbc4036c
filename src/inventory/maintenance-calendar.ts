import * as E from "fp-ts/Either";
import { RRuleTemporal } from "rrule-temporal";
import { Temporal } from "temporal-polyfill";
import type { MaintenancePlace, Opening } from "../domain/opening";

/** A recurring time in which resources and hosts may begin, as the inventory has it (docs/configuration.md). */
export interface MaintenanceWindow {
  readonly id: string;
  /** IANA name, such as `Europe/Berlin`. */
  readonly timeZone: string;
  /** RFC 5545 RRULE of the days on which it opens, such as `FREQ=WEEKLY;BYDAY=SA`. */
  readonly recurrence: string;
  /** Local time at which it opens, such as `22:00`. */
  readonly start: string;
  /** ISO 8601, at most a week, such as `PT6H`; elapsed time, also where clocks change meanwhile. */
  readonly duration: string;
  /** ISO 8601: how long before its end nothing begins any more. */
  readonly lastStartBefore?: string;
}

/** A time in which nothing may begin, whatever the windows say. */
export interface ChangeFreeze {
  readonly id: string;
  readonly from: string;
  readonly until: string;
  readonly reason: string;
  /** Ids of the domains that it holds for; all where absent. */
  readonly domains?: readonly string[];
}

export interface MaintenanceCalendar {
  /**
   * Whether a resource may begin that belongs to all of these, such as a management server to the clusters that it serves.
   * Where it may not, it may at `opensAt` at the earliest.
   */
  at(places: readonly MaintenancePlace[], now: number): Opening;
}

interface Interval {
  readonly from: number;
  readonly until: number;
}

interface Freeze extends Interval {
  readonly freeze: ChangeFreeze;
}

/** Openings from the one that contains `now` or comes first after it. */
type Openings = (now: number) => readonly Interval[];

const day = 86_400_000;
const longestWindow = 7 * day;
const lookAhead = 2 * 366 * day;
/** A Monday. `INTERVAL` needs a first occurrence, and the contract of a window has none. */
const anchor = Temporal.ZonedDateTime.from("2024-01-01T00:00:00[UTC]");
const frequencies: ReadonlySet<string> = new Set(["DAILY", "WEEKLY", "MONTHLY", "YEARLY"]);
const parts: ReadonlySet<string> = new Set([
  ...["FREQ", "INTERVAL", "UNTIL", "WKST"],
  ...["BYDAY", "BYMONTH", "BYMONTHDAY", "BYYEARDAY", "BYWEEKNO", "BYSETPOS"],
]);

/** On the left: everything that is wrong with the windows and freezes, a line each. */
export function maintenanceCalendar(
  windows: readonly MaintenanceWindow[],
  freezes: readonly ChangeFreeze[],
): E.Either<readonly string[], MaintenanceCalendar> {
  const problems: string[] = [];
  const openings = new Map<string, Openings>();
  for (const window of windows) {
    const read = openingsOf(window);
    if (openings.has(window.id)) problems.push(`Maintenance window ${window.id} occurs twice.`);
    if (E.isLeft(read)) problems.push(...read.left);
    else openings.set(window.id, read.right);
  }
  const closed = freezes.map((freeze) => ({ freeze, from: Date.parse(freeze.from), until: Date.parse(freeze.until) }));
  for (const { freeze, from, until } of closed) {
    if (!(from < until)) problems.push(`Freeze ${freeze.id} ends before it begins.`);
  }
  if (problems.length > 0) return E.left(problems);
  const always = [{ from: -Infinity, until: Infinity }];
  const openingOf = ({ domain, maintenanceWindow }: MaintenancePlace, now: number) => {
    const meant = closed.filter(({ freeze: { domains } }) => domains?.includes(domain) ?? true);
    const open = maintenanceWindow === undefined ? always : (openings.get(maintenanceWindow)?.(now) ?? []);
    return openingAt(open, meant, maintenanceWindow ?? "", now);
  };
  return E.right({
    at: (places, now) =>
      places
        .filter(({ ignoresCalendar }) => ignoresCalendar !== true)
        .map((place) => openingOf(place, now))
        .reduce(narrower, { isOpen: true }),
  });
}

/** Of two that must both be open: the one that closes first, or is closed longer. */
function narrower(one: Opening, other: Opening): Opening {
  if (one.isOpen !== other.isOpen) return one.isOpen ? other : one;
  const end = (opening: Opening) => (opening.isOpen ? -(opening.closesAt ?? Infinity) : (opening.opensAt ?? Infinity));
  return end(other) > end(one) ? other : one;
}

function openingAt(open: readonly Interval[], freezes: readonly Freeze[], windowId: string, now: number): Opening {
  const firstFrom = (moment: number) =>
    open
      .map(({ from, until }) => ({ at: afterFreezes(Math.max(from, moment), freezes), until }))
      .find(({ at, until }) => at < until);
  const next = firstFrom(now);
  if (next?.at === now) {
    const closesAt = Math.min(next.until, ...freezes.map(({ from }) => from).filter((from) => from > now));
    if (!Number.isFinite(closesAt)) return { isOpen: true };
    const opensAgainAt = firstFrom(closesAt)?.at;
    return { isOpen: true, closesAt, ...(opensAgainAt !== undefined && { opensAgainAt }) };
  }
  const opensAt = next && { opensAt: next.at };
  const frozen = freezes.find(({ from, until }) => from <= now && now < until)?.freeze;
  return frozen
    ? { isOpen: false, because: "CHANGE_FREEZE", id: frozen.id, reason: frozen.reason, ...opensAt }
    : { isOpen: false, because: "OUTSIDE_MAINTENANCE_WINDOW", id: windowId, ...opensAt };
}

/** The first moment from this one on which no freeze has. */
function afterFreezes(moment: number, freezes: readonly Freeze[]): number {
  const frozen = freezes.find(({ from, until }) => from <= moment && moment < until);
  return frozen ? afterFreezes(frozen.until, freezes) : moment;
}

function openingsOf(window: MaintenanceWindow): E.Either<readonly string[], Openings> {
  const { timeZone } = window;
  const what = `of maintenance window ${window.id}`;
  const rule = ruleOf(window.recurrence);
  const start = attempt(() => Temporal.PlainTime.from(window.start));
  const duration = lengthOf(window.duration);
  const lastStart = window.lastStartBefore === undefined ? 0 : lengthOf(window.lastStartBefore);
  const problems = [
    ...(attempt(() => anchor.withTimeZone(timeZone))
      ? []
      : [`The timeZone ${what} is not an IANA time zone: ${timeZone}.`]),
    ...(E.isLeft(rule) ? [`The recurrence ${what}: ${rule.left}`] : []),
    ...(start ? [] : [`The start ${what} is not a local time such as 22:00: ${window.start}.`]),
    ...(duration !== undefined && duration > 0 && duration <= longestWindow
      ? []
      : [`The duration ${what} must be between a second and a week, such as PT6H: ${window.duration}.`]),
    ...(lastStart !== undefined && lastStart < (duration ?? Infinity)
      ? []
      : [`The lastStartBefore ${what} must be shorter than the duration, such as PT45M: ${window.lastStartBefore}.`]),
  ];
  if (problems.length > 0 || E.isLeft(rule) || !start || duration === undefined || lastStart === undefined)
    return E.left(problems);
  const onDay = (date: Temporal.ZonedDateTime): Interval => {
    // A time that clocks skip is the moment after it; of one that they show twice, the first.
    const from = date.toPlainDate().toZonedDateTime({ timeZone, plainTime: start }).epochMilliseconds;
    return { from, until: from + duration - lastStart };
  };
  // Days are counted in UTC, and local ones begin up to 14 hours before or after.
  const fromDay = (today: number) =>
    rule.right.between(new Date(today - longestWindow - day), new Date(today + lookAhead), true).map(onDay);
  let known: { readonly today: number; readonly openings: readonly Interval[] } | undefined;
  return E.right((now) => {
    const today = now - (now % day);
    if (known?.today !== today) known = { today, openings: fromDay(today) };
    return known.openings.filter(({ until }) => until > now);
  });
}

/** On the left: why it is no rule of days. */
function ruleOf(recurrence: string): E.Either<string, RRuleTemporal> {
  const names = recurrence.split(";").map((part) => part.split("=")[0] ?? "");
  const frequency = /(?:^|;)FREQ=([^;]*)/.exec(recurrence)?.[1] ?? "";
  const unknown = names.find((name) => !parts.has(name));
  if (unknown !== undefined) return E.left(`it may have ${[...parts].join(", ")}, not ${JSON.stringify(unknown)}.`);
  if (!frequencies.has(frequency)) return E.left(`FREQ must be one of ${[...frequencies].join(", ")}.`);
  const rule = attempt(() => new RRuleTemporal({ rruleString: recurrence, dtstart: anchor, strict: true }));
  if (!rule) return E.left(`it is no RRULE of RFC 5545, such as FREQ=WEEKLY;BYDAY=SA: ${recurrence}.`);
  // The library leaves out what it does not know, and a rule would mean other days than were written.
  const understood = rule.toString().split("RRULE:")[1] ?? "";
  const sorted = (text: string) => text.replaceAll("+", "").split(";").sort().join(";");
  return sorted(understood) === sorted(recurrence)
    ? E.right(rule)
    : E.left(`of ${recurrence} only ${understood} can be understood.`);
}

/** In milliseconds; undefined where it is no length of time without years and months. */
function lengthOf(duration: string): number | undefined {
  return attempt(() => {
    const { years, months, weeks, days, hours, minutes, seconds } = Temporal.Duration.from(duration);
    if (years !== 0 || months !== 0) throw new RangeError(duration);
    return (((weeks * 7 + days) * 24 + hours) * 60 + minutes) * 60_000 + seconds * 1000;
  });
}

function attempt<A>(read: () => A): A | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
