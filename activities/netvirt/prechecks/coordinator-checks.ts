import { netvirtComponentOrder } from "../../../src/domain/netvirt-upgrade";
import { DriverError } from "../../drivers/driver-error";
import type { CheckFailure, UpgradeStatus } from "../../drivers/nsx/nsx-models";
import { isIncluded, nameOf } from "../included-groups";
import { listGroups, readNetvirtUpgrade } from "../read-netvirt-upgrade";
import { findingsOf, type NetvirtPrecheck, type NetvirtPrecheckInput } from "./netvirt-precheck";

/** Longest wait for the checks, in milliseconds: below the time limit of the Activity that they are part of. */
const longest = 15 * 60_000;

/** What the upgrade coordinator itself checks before an upgrade. */
export const coordinatorChecks: NetvirtPrecheck = {
  type: "NETVIRT_PRE_UPGRADE_CHECKS",
  name: "Checks of the upgrade coordinator",
  description: "The pre-upgrade checks of the coordinator find nothing that is in the way.",
  needs: ["NETVIRT_TARGET_OFFERED", "NETVIRT_COMPONENTS_READY"],
  run: async (input) => {
    const { client, patience, target } = input;
    const { components } = await readNetvirtUpgrade(client, patience, target);
    if (components.every(({ state }) => state !== "TO_DO")) return [];
    const component = target.options.edgeOnly ? "EDGE" : undefined;
    const aborted = await runChecks(input, component);
    if (aborted.length > 0) {
      return findingsOf(input, [
        {
          code: "NETVIRT_CHECKS_UNFINISHED",
          message: `The pre-upgrade checks of ${target.netvirt.name} did not come to their end (${aborted.join(", ")}).`,
          remediation: "Run the pre-upgrade checks in the coordinator, then run the prechecks again.",
        },
      ]);
    }
    const failures = await patience.persist(() => client.listPrecheckFailures(component));
    const leftOut = await groupsLeftOut(input);
    return findingsOf(
      input,
      failures
        .filter((failure) => isInTheWay(failure) && !leftOut.has(failure.group_name ?? ""))
        .map((failure) => ({
          code: "NETVIRT_CHECK_FAILED",
          message: `${failure.origin_name ?? failure.component_type ?? "A check"}: ${failure.message?.message ?? "the check gives no reason"}`,
          remediation:
            "Resolve what the check reports, or acknowledge it in the upgrade coordinator where it is a warning, then run the prechecks again.",
          context: {
            ...(failure.component_type !== undefined && { component: failure.component_type }),
            ...(failure.group_name !== undefined && { group: failure.group_name }),
            ...(failure.origin_name !== undefined && { node: failure.origin_name }),
          },
        })),
    );
  },
};

/** A failure is in the way, and so is a warning that somebody still has to acknowledge. */
function isInTheWay({ type = "FAILURE", needs_ack, acked }: CheckFailure): boolean {
  return acked !== true && (needs_ack === true || !/warning/i.test(type));
}

/** Runs the checks, or waits for those that run already. Gives the components of which they were cut short. */
async function runChecks(input: NetvirtPrecheckInput, component: string | undefined): Promise<string[]> {
  const { client, patience, limits, target } = input;
  const wanted = new Set<string>(netvirtComponentOrder(target.targetVersion, target.options.edgeOnly));
  const checksOf = ({ component_status }: UpgradeStatus) =>
    component_status.filter(({ component_type }) => wanted.has(component_type));
  const before = checksOf(await patience.persist(() => client.readStatus()));
  await patience.persist(async () => {
    try {
      await client.startPrechecks(component);
    } catch (error) {
      if (!(error instanceof DriverError) || error.kind !== "alreadyDone") throw error;
    }
  });
  const began = Date.now();
  let seenRunning = false;
  for (let round = 0; ; round++) {
    await patience.pause(round);
    const now = checksOf(await patience.persist(() => client.readStatus()));
    const statuses = now.map(({ pre_upgrade_status }) => pre_upgrade_status?.status ?? "NOT_STARTED");
    const running = statuses.some((status) => status === "IN_PROGRESS" || status === "ABORTING");
    seenRunning ||= running || JSON.stringify(now) !== JSON.stringify(before);
    // Checks that are over before they are seen to run, and have changed nothing, are over as well.
    if (!running && (seenRunning || Date.now() - began >= 6 * limits.poll.max)) {
      return now.filter((_, i) => statuses[i] === "ABORTED").map(({ component_type }) => component_type);
    }
    if (Date.now() - began >= Math.min(limits.operationBusy, longest)) {
      return now
        .filter((_, i) => statuses[i] === "IN_PROGRESS" || statuses[i] === "ABORTING")
        .map(({ component_type }) => component_type);
    }
  }
}

/** Names of groups that the request leaves out: what is wrong with them is not in the way. */
async function groupsLeftOut({ client, patience, target }: NetvirtPrecheckInput): Promise<ReadonlySet<string>> {
  const names = new Set<string>();
  for (const component of netvirtComponentOrder(target.targetVersion, target.options.edgeOnly)) {
    const groups = await listGroups(client, patience, component);
    groups
      .filter((group) => !isIncluded(component, group, target.options))
      .forEach((group) => names.add(nameOf(group)));
  }
  return names;
}
