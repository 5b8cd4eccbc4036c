import { DriverError } from "../drivers/driver-error";
import { isApply } from "./find-remediation";
import type { HostsRemediationContext } from "./hosts-context";

/**
 * Takes every host of the input out of maintenance mode, whatever became of it, and says so of those that stay in it.
 * A host that was upgraded counts as that only when it is back at work.
 */
export async function leaveMaintenance(context: HostsRemediationContext): Promise<void> {
  const { progress, input } = context;
  const left = await exitAll(context);
  input.hosts.forEach((_, place) => {
    const problem = left.get(place);
    const isUpgraded = progress.inPhase("EXITING_MAINTENANCE").includes(place);
    if (problem === undefined) {
      if (isUpgraded) progress.move([place], "UPGRADED");
      return;
    }
    const isDone = isUpgraded || progress.inPhase("ALREADY_AT_TARGET").includes(place);
    if (progress.inPhase("FAILED", "FAILED_ONCE").includes(place))
      progress.addToFailure(place, "It stays in maintenance mode.");
    else
      progress.fail(place, {
        code: "HOST_LEFT_IN_MAINTENANCE_MODE",
        what: `${isDone ? "is at the target, but" : "was not upgraded, and"} stays in maintenance mode: ${problem}`,
        stage: "VERIFY",
      });
  });
}

/** The hosts, by their places, that could not be taken out of maintenance mode, and why. */
async function exitAll({ client, maintenance, patience, progress, input }: HostsRemediationContext) {
  const { cluster } = input.cluster;
  const left = new Map<number, string>();
  const inside = await maintenance.inMaintenance(cluster, patience);
  const places = input.hosts.flatMap(({ host }, place) => (inside.has(host) ? [place] : []));
  if (places.length === 0) return left;
  progress.note(`${places.length} hosts leave maintenance mode.`);
  const listed = await patience.persist(() => client.listHosts(cluster));
  await Promise.all(
    places.map(async (place) => {
      const id = input.hosts[place]?.host ?? "";
      const state = listed.find(({ host }) => host === id)?.connection_state ?? "MISSING";
      if (state !== "CONNECTED") {
        left.set(place, `it is ${state}.`);
        return;
      }
      try {
        await maintenance.exit(id, patience);
      } catch (error) {
        if (!(error instanceof DriverError)) throw error;
        left.set(place, error.causes[0] ?? error.message);
      }
    }),
  );
  return left;
}

/**
 * The error of an attempt that is given up for another reason than its hosts, with the hosts that it leaves in
 * maintenance mode: where a remediation may still run they have to stay in it, otherwise they are taken out.
 */
export async function givenUp(context: HostsRemediationContext, error: DriverError): Promise<DriverError> {
  const { client, maintenance, patience, progress, input } = context;
  let inside: string[];
  try {
    const tasks = await patience.persist(() => client.listUnfinishedTasks(input.cluster.cluster));
    if (![...tasks.values()].some(isApply)) await exitAll(context);
    const left = await maintenance.inMaintenance(input.cluster.cluster, patience);
    inside = input.hosts.filter(({ host }) => left.has(host)).map(({ fqdn }) => fqdn);
  } catch (cause) {
    if (!(cause instanceof DriverError)) throw cause;
    inside = progress
      .inPhase("ENTERING_MAINTENANCE", "REMEDIATING", "RECONNECTING", "EXITING_MAINTENANCE")
      .map((place) => input.hosts[place]?.fqdn ?? "");
  }
  if (inside.length === 0) return error;
  const named = inside.slice(0, 3).join(", ") + (inside.length > 3 ? ` and ${inside.length - 3} more` : "");
  return new DriverError({
    kind: error.kind,
    code: error.code,
    message: `${error.message} In maintenance mode still: ${named}.`,
    remediation: `${error.remediation} Take the hosts that stay in maintenance mode out of it before.`,
    ...(error.status !== undefined && { status: error.status }),
    ...(error.errorType !== undefined && { errorType: error.errorType }),
    causes: error.causes,
  });
}
