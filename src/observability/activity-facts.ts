import type { Info } from "@temporalio/activity";

/** What the log and the spans say of a run of an Activity: on what it works, and which of its attempts it is. */
export interface ActivityFacts {
  /** The host, component, cluster or server in a word. */
  readonly on?: string;
  readonly cluster?: string;
  readonly host?: string;
  readonly componentManager?: string;
  /** One more than the failures that have used up attempts; where these are not counted, as Temporal counts runs. */
  readonly attempt: number;
  /** How many attempts there are in all, where only failures that the component manager reports use them up. */
  readonly attempts?: number;
}

type Named = Partial<Record<string, unknown>>;

/** Read from the names that inputs have (activities/contract.ts), because an interceptor sees any Activity's. */
export function activityFacts({ attempt, heartbeatDetails }: Info, input: unknown): ActivityFacts {
  const given = named(input);
  const { hosts, component, cluster, netvirt, server } = given;
  const count = Array.isArray(hosts) ? hosts.length : 1;
  const host = given["host"] ?? (count === 1 ? named(hosts)[0] : undefined);
  const manager = [cluster, netvirt, server].map((part) => named(part)["componentManagerId"]).find(isText);
  const on = count > 1 ? `${count} hosts` : [host, component, cluster, netvirt, server].map(nameOf);
  const onWhat = typeof on === "string" ? on : on.find(isText);
  const clusterName = nameOf(cluster);
  const hostName = nameOf(host);
  const attempts = named(given["attempts"])["maximumAttempts"];
  const reported = [reportedIn(heartbeatDetails), reportedIn(given["resume"])].filter((count) => count !== undefined);
  return {
    ...(onWhat !== undefined && { on: onWhat }),
    ...(clusterName !== undefined && { cluster: clusterName }),
    ...(hostName !== undefined && { host: hostName }),
    ...(manager !== undefined && { componentManager: manager }),
    attempt: reported.length > 0 ? Math.max(...reported) + 1 : attempt,
    ...(typeof attempts === "number" && { attempts }),
  };
}

/** How a failed attempt leaves its host or component: attempts that are left, and after how many seconds the next one comes. */
export function attemptsAfter(
  { attempts }: ActivityFacts,
  input: unknown,
  failure: {
    readonly nonRetryable?: boolean | null | undefined;
    readonly details?: readonly unknown[] | null | undefined;
  },
): { readonly attemptsLeft?: number; readonly nextAttemptSeconds?: number } {
  const reported = reportedIn(named(failure.details?.[0])["progress"]);
  if (attempts === undefined || reported === undefined) return {};
  const { retryDelay } = named(named(input)["attempts"]);
  return {
    attemptsLeft: Math.max(0, attempts - reported),
    ...(failure.nonRetryable !== true && typeof retryDelay === "number" && { nextAttemptSeconds: retryDelay }),
  };
}

/** Failures that used up attempts, as progress tells them. */
function reportedIn(progress: unknown): number | undefined {
  const { reportedFailures, failures } = named(progress);
  // Several hosts count each on its own.
  const reported: unknown = Array.isArray(failures) && failures.length === 1 ? failures[0] : reportedFailures;
  return typeof reported === "number" ? reported : undefined;
}

function nameOf(part: unknown): string | undefined {
  if (isText(part)) return part;
  const { fqdn, name } = named(part);
  return [fqdn, name].find(isText);
}

function named(value: unknown): Named {
  return typeof value === "object" && value !== null ? value : {};
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}
