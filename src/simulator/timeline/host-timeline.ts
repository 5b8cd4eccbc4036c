import type { Fault } from "../state/fault";
import type { HostFailure, ProgressMark, TimelineEvent } from "../state/simulator-state";

/** What is known when the remediation of a host begins. `start` is epoch milliseconds, `duration` milliseconds. */
export interface HostStart {
  readonly host: string;
  readonly name: string;
  readonly start: number;
  readonly duration: number;
  /** Why it cannot be remediated at all; found out at once. */
  readonly obstacle?: string;
  readonly fault?: Fault;
}

/** The host's whole future: what will happen, and how its progress will look until then. */
export interface HostTimeline {
  readonly events: TimelineEvent[];
  readonly marks: ProgressMark[];
}

/** When each phase ends, as a share of the host's time, and what the task says meanwhile. */
const phases = {
  entering: { until: 0.25, percent: 20 },
  installing: { until: 0.55, percent: 55 },
  shutdown: { until: 0.6, percent: 60 },
  rebooting: { until: 0.9, percent: 90 },
  exiting: { until: 1, percent: 100 },
} as const;

/**
 * Plans the remediation of one host: enter maintenance mode, install, reboot (it does not respond for part of that),
 * reconnect, exit maintenance mode. The same start always gives the same timeline, which is what lets it outlive a
 * restart and be tested without waiting.
 */
export function planHost({ host, name, start, duration, obstacle, fault }: HostStart): HostTimeline {
  const at = (share: number) => start + share * duration;
  const event = (kind: TimelineEvent["kind"], when: number): TimelineEvent => ({ at: when, kind, host });
  const failed = (when: number, failure: HostFailure): TimelineEvent => ({
    at: when,
    kind: "HOST_FAILED",
    host,
    failure,
  });
  const mark = (when: number, percent: number, message: string): ProgressMark => ({ at: when, percent, message });

  const enter = mark(start, 0, `Host ${name} is entering maintenance mode.`);
  const install = mark(at(phases.entering.until), phases.entering.percent, `Host ${name} is being remediated.`);
  const shutdown = mark(at(phases.installing.until), phases.installing.percent, `Host ${name} is being rebooted.`);
  const reboot = mark(at(phases.shutdown.until), phases.shutdown.percent, `Waiting for host ${name} to reconnect.`);
  const exit = mark(at(phases.rebooting.until), phases.rebooting.percent, `Host ${name} is exiting maintenance mode.`);
  const end = mark(at(1), phases.exiting.percent, `Host ${name} was remediated.`);

  const entered = event("MAINTENANCE_ENTERED", at(phases.entering.until));
  const remediated = event("REMEDIATED", at(phases.installing.until));
  const down = event("HOST_DOWN", at(phases.shutdown.until));

  if (obstacle !== undefined)
    return {
      events: [failed(start, { status: "ERROR", id: "host.not_remediable", message: obstacle, retriable: true })],
      marks: [enter],
    };

  switch (fault?.kind) {
    case "MAINTENANCE_MODE_HANGS":
      return { events: [], marks: [enter, mark(at(0.05), 4, enter.message)] };
    case "MAINTENANCE_MODE_STUCK": {
      const message = fault.message ?? `Host ${name} could not enter maintenance mode: not all VMs left it in time.`;
      const until = start + (fault.seconds ?? duration / 1000) * 1000;
      return {
        events: [failed(until, { status: "ERROR", id: "host.maintenance_mode_failed", message, retriable: true })],
        marks: [enter, mark(Math.min(at(0.05), until), 4, enter.message)],
      };
    }
    case "REMEDIATION_FAILS": {
      const message = fault.message ?? `The bootbank of host ${name} has not enough free space for the image.`;
      const when = at(phases.installing.until);
      return {
        events: [entered, failed(when, { status: "ERROR", id: "host.remediation_failed", message, retriable: false })],
        marks: [enter, install, mark(when, 50, install.message)],
      };
    }
    case "HOST_NEVER_RECONNECTS": {
      const message = `Host ${name} did not reconnect after its reboot.`;
      const until = down.at + (fault.seconds ?? (2 * duration) / 1000) * 1000;
      return {
        events: [
          entered,
          remediated,
          { ...down, fault: fault.id },
          failed(until, { status: "TIMED_OUT", id: "host.reconnect_timed_out", message, retriable: true }),
        ],
        marks: [enter, install, shutdown, reboot],
      };
    }
    default:
      return {
        events: [
          entered,
          remediated,
          down,
          event("HOST_UP", at(phases.rebooting.until)),
          event("MAINTENANCE_EXITED", at(phases.exiting.until)),
        ],
        marks: [enter, install, shutdown, reboot, exit, end],
      };
  }
}

/** Progress at a moment: straight lines between the marks, standing still after the last. */
export function progressAt(marks: readonly ProgressMark[], now: number): { percent: number; message: string } {
  const next = marks.findIndex((mark) => mark.at > now);
  const last = marks[next === -1 ? marks.length - 1 : Math.max(next - 1, 0)];
  if (!last) return { percent: 0, message: "" };
  const following = next > 0 ? marks[next] : undefined;
  if (!following) return { percent: last.percent, message: last.message };
  const share = (now - last.at) / (following.at - last.at);
  return { percent: Math.floor(last.percent + share * (following.percent - last.percent)), message: last.message };
}
