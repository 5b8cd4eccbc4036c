import { isLeft } from "fp-ts/Either";
import * as t from "io-ts";
import { optionsOfImages } from "../../../src/domain/plan/remediation-options";
import type { HostRemediationOptions } from "../../../src/domain/task/host-remediation";
import type { ClusterTarget, RemediationPolicy } from "../../contract";
import { DriverError } from "../../drivers/driver-error";
import { reasonsOfFault } from "../../drivers/vim25/soap";
import type { Vim25Client } from "../../drivers/vim25/vim25-client";
import { type ClusterSettings, endedByOutage, hasEnded } from "../../drivers/vim25/vim25-models";
import type { RetryPolicy } from "../../retry-policy";
import { UncertainChanges } from "../../uncertain-changes";
import { followHostTask } from "./follow-host-task";

/** The settings of a baseline-managed cluster that an upgrade may switch off, as they are recorded. */
const Recorded = t.exact(t.partial({ admissionControl: t.boolean, dpm: t.boolean }));
type Recorded = t.TypeOf<typeof Recorded>;

/** HA admission control and power management as they are now. */
export async function readClusterSettings(
  client: Vim25Client,
  retryPolicy: RetryPolicy,
  { cluster: { cluster } }: ClusterTarget,
): Promise<RemediationPolicy> {
  const { settings } = await retryPolicy.retry(() => client.readCluster(cluster));
  const { admissionControl, dpm } = settings;
  return {
    ...(admissionControl !== undefined && { admissionControl }),
    ...(dpm !== undefined && { dpm }),
  };
}

/** Switches off what the upgrade asks for, and nothing that was off already. */
export async function switchOffClusterSettings(
  client: Vim25Client,
  retryPolicy: RetryPolicy,
  input: ClusterTarget & { options: HostRemediationOptions; previous: RemediationPolicy },
): Promise<void> {
  // Admission refuses these; an upgrade that was accepted before it did may still ask for one.
  const [unsupported] = optionsOfImages(input.options);
  if (unsupported) {
    throw new DriverError({
      kind: "permanent",
      code: "OPTION_NOT_SUPPORTED",
      message: `${unsupported.title} does not apply to cluster ${input.cluster.name}: ${unsupported.reason}`,
      remediation: `Start a new upgrade of this cluster without ${unsupported.title}.`,
    });
  }
  await reconfigure(client, retryPolicy, input, ours(input.options, input.previous, false));
}

/** Puts back what the upgrade has switched off; anything else may have been changed by somebody else meanwhile. */
export async function restoreClusterSettings(
  client: Vim25Client,
  retryPolicy: RetryPolicy,
  input: ClusterTarget & { previous: RemediationPolicy },
): Promise<void> {
  const options = input.options ?? { disableHac: true, disableDpm: true };
  await reconfigure(client, retryPolicy, input, ours(options, input.previous, true));
}

/** The settings that were on and that the options switch off, with the value that they are to have. */
function ours(options: HostRemediationOptions, previous: RemediationPolicy, value: boolean): Recorded {
  const recorded = Recorded.decode(previous);
  const before = isLeft(recorded) ? {} : recorded.right;
  return {
    ...(options.disableHac === true && before.admissionControl === true && { admissionControl: value }),
    ...(options.disableDpm === true && before.dpm === true && { dpm: value }),
  };
}

/** Brings settings to what is wanted, from whatever they are: a request whose answer was lost is found to be done. */
async function reconfigure(
  client: Vim25Client,
  retryPolicy: RetryPolicy,
  { cluster: named }: ClusterTarget,
  wanted: Recorded,
): Promise<void> {
  if (Object.keys(wanted).length === 0) return;
  const { cluster, name } = named;
  let reasons: readonly string[] = [];
  const maximumRequests = 3;
  const uncertain = new UncertainChanges<"outage">(retryPolicy.clock);
  for (let round = 0, requests = 0; ; round++) {
    await awaitReconfigurations(client, retryPolicy, named);
    const { settings } = await retryPolicy.retry(() => client.readCluster(cluster));
    const missing = different(wanted, settings);
    if (Object.keys(missing).length === 0) return;
    if (requests++ === maximumRequests) break;
    // A task that is lost or was not seen to end is looked at through its effect.
    const task = await retryPolicy.retry(() => client.reconfigureCluster(cluster, missing));
    const followed = await followHostTask({ client, retryPolicy, task, stall: retryPolicy.bounds.operationBusy });
    if (followed.end === "ENDED" && followed.task.error) reasons = reasonsOfFault(followed.task.error);
    if (followed.end === "STALLED" || (followed.end === "ENDED" && !endedByOutage(followed.task))) continue;
    if (followed.end === "ENDED" && !uncertain.hasLasted("outage", retryPolicy.bounds.outage)) requests--;
    await retryPolicy.pause(round);
  }
  throw notChanged(client, `${Object.keys(wanted).join(" and ")} of cluster ${name}`, reasons);
}

function notChanged(client: Vim25Client, what: string, reasons: readonly string[]): DriverError {
  return new DriverError({
    kind: "transient",
    code: "CLUSTER_SETTINGS_NOT_CHANGED",
    message: `${client.id} did not change ${what}${reasons[0] ? `: ${reasons[0]}` : "."}`,
    remediation: "Resolve what the component manager reports for the cluster, then retry the upgrade.",
    causes: reasons,
  });
}

/**
 * Until nothing runs that would change the settings after they were read: what was cancelled or lost in the middle of it, or
 * somebody else's. Throws where that makes no progress.
 */
async function awaitReconfigurations(
  client: Vim25Client,
  retryPolicy: RetryPolicy,
  { cluster, name }: ClusterTarget["cluster"],
): Promise<void> {
  const recent = await retryPolicy.retry(() => client.listReconfigurations(cluster));
  for (const { key: task } of recent.filter((one) => !hasEnded(one))) {
    const { end } = await followHostTask({ client, retryPolicy, task, stall: retryPolicy.bounds.operationBusy });
    const reason = `Task ${task} is still changing its settings.`;
    if (end === "STALLED") throw notChanged(client, `the settings of cluster ${name}`, [reason]);
  }
}

function different(wanted: Recorded, now: ClusterSettings): Recorded {
  return {
    ...(wanted.admissionControl !== undefined &&
      wanted.admissionControl !== now.admissionControl && { admissionControl: wanted.admissionControl }),
    ...(wanted.dpm !== undefined && wanted.dpm !== now.dpm && { dpm: wanted.dpm }),
  };
}
