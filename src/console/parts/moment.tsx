import { setTimeDisplay, timeDisplay } from "../client/time-display";
import { exactTime, formatTime, type TimeDisplay } from "../model/local-time";

interface MomentProps {
  /** Epoch milliseconds. */
  readonly at: number;
  /** By the clock of the service. */
  readonly now: number;
}

/** A time as the switch of the console says; its title has the zone and UTC. */
export function Moment({ at, now }: MomentProps) {
  return (
    <time dateTime={new Date(at).toISOString()} title={exactTime(at)}>
      {formatTime(at, { display: timeDisplay.value, now })}
    </time>
  );
}

const displayLabels: Readonly<Record<TimeDisplay, string>> = {
  LOCAL: "Local time",
  UTC: "UTC",
  RELATIVE: "Relative",
};

/** Switches how all times of the console are shown. */
export function TimeSwitch() {
  return (
    <label class="time-switch">
      <span class="visually-hidden">Show times as</span>
      <select
        value={timeDisplay.value}
        onChange={({ currentTarget: { value } }) => setTimeDisplay(value as TimeDisplay)}
      >
        {Object.entries(displayLabels).map(([display, words]) => (
          <option key={display} value={display}>
            {words}
          </option>
        ))}
      </select>
    </label>
  );
}
