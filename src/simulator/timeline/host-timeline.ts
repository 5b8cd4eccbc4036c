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
  /** Quick Boot restarts the host's software without its hardware, in a third of the time. */
  readonly quickBoot?: boolean;
  /** It is in maintenance mode already and stays in it. */
  readonly inMaintenance?: boolean;
  /** The image is applied while the host runs. */
  readonly livePatch?: boolean;
}

/** The host's whole future: what will happen, and how its progress will look until then. */
export interface HostTimeline {
  readonly events: TimelineEvent[];
  readonly marks: ProgressMark[];
}

/** How long each phase takes, as a share of the host's time. */
const shares = { entering: 0.25, installing: 0.3, shutdown: 0.05, rebooting: 0.3, exiting: 0.1 } as const;
const quickBootShare = 0.1;
const livePatchShare = 0.2;

/** How much is done at the end of each phase, as the task shows it. */
const percents = { entering: 20, installing: 55, shutdown: 60, rebooting: 90, exiting: 100 } as const;

function failed(at: number, host: string, failure: HostFailure): TimelineEvent {
  return { at, kind: "HOST_FAILED", host, failure };
}

/**
 * Plans the remediation of one host: enter maintenance mode, install, reboot (it does not respond for part of that),
 * reconnect, exit maintenance mode; or a live patch, without any of these. The same start always gives the same
 * timeline, which is what lets it outlive a restart and be tested without waiting.
 */
export function planHost(planned: HostStart): HostTimeline {
  const { host, name, start, duration, obstacle, fault, livePatch, inMaintenance = false } = planned;
  const enter: ProgressMark = {
    at: start,
    percent: 0,
    message:
      inMaintenance || livePatch ? `Host ${name} is being remediated.` : `Host ${name} is entering maintenance mode.`,
  };
  if (obstacle !== undefined)
    return {
      events: [failed(start, host, { status: "ERROR", id: "host.not_remediable", message: obstacle, retriable: true })],
      marks: [enter],
    };
  switch (fault?.kind) {
    case "MAINTENANCE_MODE_HANGS":
      return { events: [], marks: [enter, { ...enter, at: start + 0.05 * duration, percent: 4 }] };
    case "MAINTENANCE_MODE_STUCK": {
      const message = fault.message ?? `Host ${name} could not enter maintenance mode: not all VMs left it in time.`;
      const until = start + (fault.seconds ?? duration / 1000) * 1000;
      return {
        events: [
          failed(until, host, { status: "ERROR", id: "host.maintenance_mode_failed", message, retriable: true }),
        ],
        marks: [enter, { ...enter, at: Math.min(start + 0.05 * duration, until), percent: 4 }],
      };
    }
    default:
      return livePatch ? planLivePatch(planned, enter) : planReboot(planned, enter);
  }
}

function planLivePatch({ host, name, start, duration, fault }: HostStart, enter: ProgressMark): HostTimeline {
  const end = Math.round(start + livePatchShare * duration);
  const failure = installFailure(name, fault, start, end - start);
  if (failure) return { events: [failed(failure.at, host, failure.failure)], marks: [enter] };
  return {
    events: [{ at: end, kind: "LIVE_PATCHED", host }],
    marks: [enter, { at: end, percent: 100, message: `Host ${name} was patched while it ran.` }],
  };
}

function planReboot(
  { host, name, start, duration, fault, quickBoot = false, inMaintenance = false }: HostStart,
  enter: ProgressMark,
): HostTimeline {
  const event = (kind: TimelineEvent["kind"], at: number): TimelineEvent => ({ at, kind, host });
  const enteredShare = inMaintenance ? 0 : shares.entering;
  const installedShare = enteredShare + shares.installing;
  const downShare = installedShare + shares.shutdown;
  const upShare = downShare + (quickBoot ? quickBootShare : shares.rebooting);
  const endShare = upShare + (inMaintenance ? 0 : shares.exiting);
  const at = (share: number) => Math.round(start + share * duration);

  const mark = (share: number, percent: number, message: string): ProgressMark => ({ at: at(share), percent, message });
  const install = mark(enteredShare, percents.entering, `Host ${name} is being remediated.`);
  const shutdown = mark(installedShare, percents.installing, `Host ${name} is being rebooted.`);
  const reboot = mark(downShare, percents.shutdown, `Waiting for host ${name} to reconnect.`);
  const exit = mark(upShare, percents.rebooting, `Host ${name} is exiting maintenance mode.`);
  const end = mark(endShare, percents.exiting, `Host ${name} was remediated.`);

  const entered = inMaintenance ? [] : [event("MAINTENANCE_ENTERED", at(enteredShare))];
  const remediated = event("REMEDIATED", at(installedShare));
  const down = event("HOST_DOWN", at(downShare));

  const failure = installFailure(name, fault, at(enteredShare), at(installedShare) - at(enteredShare));
  if (failure)
    return {
      events: [...entered, failed(failure.at, host, failure.failure)],
      marks: [enter, install, { at: failure.at, percent: 50, message: install.message }],
    };
  if (fault?.kind === "HOST_NEVER_RECONNECTS") {
    const message = `Host ${name} did not reconnect after its reboot.`;
    const until = down.at + (fault.seconds ?? (2 * duration) / 1000) * 1000;
    return {
      events: [
        ...entered,
        remediated,
        { ...down, fault: fault.id },
        failed(until, host, { status: "TIMED_OUT", id: "host.reconnect_timed_out", message, retriable: true }),
      ],
      marks: [enter, install, shutdown, reboot],
    };
  }
  return {
    events: [
      ...entered,
      remediated,
      down,
      event("HOST_UP", at(upShare)),
      // Also where the host stays in maintenance mode: then it only says that the host is done.
      event("MAINTENANCE_EXITED", at(endShare)),
    ],
    marks: [enter, install, shutdown, reboot, exit, end],
  };
}

/** How the installation, which begins at `from` and takes `duration`, fails by a fault; undefined where it does not. */
function installFailure(
  name: string,
  fault: Fault | undefined,
  from: number,
  duration: number,
): { readonly at: number; readonly failure: HostFailure } | undefined {
  if (fault?.kind === "REMEDIATION_FAILS") {
    const message = fault.message ?? `The bootbank of host ${name} has not enough free space for the image.`;
    return {
      at: from + duration,
      failure: { status: "ERROR", id: "host.remediation_failed", message, retriable: false },
    };
  }
  if (fault?.kind === "REMEDIATION_TIMES_OUT") {
    const message =
      fault.message ?? `The remediation of host ${name} timed out: the image could not be copied in time.`;
    const at = fault.seconds === undefined ? from + duration : from + fault.seconds * 1000;
    return { at, failure: { status: "TIMED_OUT", id: "host.remediation_timed_out", message, retriable: true } };
  }
  return undefined;
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
