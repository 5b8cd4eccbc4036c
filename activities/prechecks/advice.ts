import { toTimestamp } from "../../src/domain/timestamp";
import { DriverError } from "../drivers/driver-error";
import type { RetryPolicy } from "../retry-policy";
import type { Finding } from "./run-checks";

// Checks that advise: what they find is a warning, and what the component manager does not tell is a note. They keep no
// upgrade from beginning.

const minute = 60_000;
const day = 24 * 60 * minute;

const maximumBackupAge = day;
const certificateNotice = 30 * day;
const maximumClockDifference = minute;
/** The share of a disk that may be in use: where NETVIRT raises its own alarm. */
const maximumDiskUse = 0.8;

/** How often something is read where the answer may be another one soon. */
const maximumReads = 3;

type About = Pick<Finding, "host" | "subject">;

/** What an answer says. A manager that does not answer, or does not tell the service's user, is a note. */
export async function advise<A>(
  retryPolicy: RetryPolicy,
  read: () => Promise<A>,
  judge: (answer: A) => readonly Finding[],
): Promise<readonly Finding[]> {
  for (let round = 0; ; round++) {
    try {
      return judge(await read());
    } catch (error) {
      if (!(error instanceof DriverError)) throw error;
      if (error.kind !== "transient" || round + 1 >= maximumReads) return [notTold(error)];
    }
    await retryPolicy.pause(round);
  }
}

function notTold({ message }: DriverError): Finding {
  return {
    severity: "INFO",
    code: "CHECK_NOT_POSSIBLE",
    message,
    remediation:
      "No action required. To have it checked, let the service's user read it in the component manager, then run the prechecks again.",
    subject: message,
  };
}

/** `name` begins a sentence, such as "Management server fra1-vc01". Times are epoch milliseconds. */
export function adviseOnBackup(name: string, lastBackup: number | undefined, now: number): Finding[] {
  if (lastBackup !== undefined && now - lastBackup <= maximumBackupAge) return [];
  const last = lastBackup === undefined ? "none has succeeded" : `the last one ended ${toTimestamp(lastBackup)}`;
  return [
    {
      severity: "WARNING",
      code: "BACKUP_NOT_RECENT",
      message: `${name} has no backup of the last 24 hours: ${last}.`,
      remediation: "Back it up, then run the prechecks again. An upgrade that fails may need the backup.",
      ...(lastBackup !== undefined && { context: { lastBackup: toTimestamp(lastBackup) } }),
    },
  ];
}

/** A certificate; `whose` goes on after "The certificate", such as "of host esx-01". */
export function adviseOnCertificate(whose: string, expiresAt: number, now: number, about: About = {}): Finding[] {
  if (!(expiresAt - now <= certificateNotice)) return [];
  return [
    {
      severity: "WARNING",
      code: "CERTIFICATE_EXPIRES",
      message: `The certificate ${whose} ${expiresAt <= now ? "expired" : "expires"} ${toTimestamp(expiresAt)}.`,
      remediation: "Renew it, then run the prechecks again.",
      context: { expiresAt: toTimestamp(expiresAt) },
      ...about,
    },
  ];
}

/** When a clock was read, by the one that it is compared with: at some moment between the two. */
export interface ClockReading {
  readonly from: number;
  readonly to: number;
  /** Whose clock it is compared with. */
  readonly than: string;
}

/** A clock that showed `time`. */
export function adviseOnClock(name: string, time: number, { from, to, than }: ClockReading, about: About = {}) {
  const ahead = time > to ? time - to : Math.min(0, time - from);
  if (!(Math.abs(ahead) > maximumClockDifference)) return [];
  const seconds = Math.round(Math.abs(ahead) / 1000);
  const finding: Finding = {
    severity: "WARNING",
    code: "CLOCK_OUT_OF_SYNC",
    message: `The clock of ${name} is ${seconds} s ${ahead > 0 ? "ahead of" : "behind"} that of ${than}.`,
    remediation: "Correct the time and check the NTP servers of both, then run the prechecks again.",
    context: { seconds: String(Math.round(ahead / 1000)) },
    ...about,
  };
  return [finding];
}

/** `used` and `total` in the same unit, `disk` as the component manager calls it. */
export function adviseOnDisk(name: string, disk: string, used: number, total: number): Finding[] {
  if (!(used / total > maximumDiskUse)) return [];
  return [diskLow(`${name} has ${Math.floor(100 - (100 * used) / total)} % of ${disk} left.`, { subject: disk })];
}

/** The disks of a server that judges them itself. */
export function adviseOnDisks(name: string, health: string): Finding[] {
  if (!["yellow", "orange", "red"].includes(health)) return [];
  return [diskLow(`${name} reports the health of its disks as ${health}.`)];
}

function diskLow(message: string, about: About = {}): Finding {
  return {
    severity: "WARNING",
    code: "DISK_SPACE_LOW",
    message,
    remediation: "Free disk space or enlarge the disk, then run the prechecks again.",
    ...about,
  };
}
