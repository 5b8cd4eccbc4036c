import type { MetricMeter } from "@temporalio/common";
import type { RuntimeOptions } from "@temporalio/worker";
import type { CallOutcome, ManagerCall } from "../../activities/drivers/call-observation";
import { callSeconds, hostSeconds } from "./buckets";

type TelemetryOptions = NonNullable<RuntimeOptions["telemetryOptions"]>;

/** The SDK's exporter of a worker, with our histograms' buckets; it has the SDK's own metrics too. */
export function exporterAt(address: string): Required<Pick<TelemetryOptions, "metrics">> {
  return {
    metrics: {
      // Whatever names its metrics without a prefix of its own is ours; the SDK's begin with `temporal_`.
      attachServiceName: false,
      prometheus: {
        bindAddress: address,
        countersTotalSuffix: true,
        unitSuffix: true,
        useSecondsForDurations: true,
        histogramBucketOverrides: {
          ums_host_upgrade_duration_seconds: hostSeconds,
          ums_component_manager_call_duration_seconds: callSeconds,
        },
      },
    },
  };
}

/**
 * How the upgrade of a host ended. `failed`: of a host that is upgraded alone each attempt that failed, of several
 * together those that failed for good. `stopped`: brought to a safe end by a cancellation.
 */
const hostOutcomes = ["upgraded", "already_at_target", "failed", "stopped"] as const;
export type HostOutcome = (typeof hostOutcomes)[number];

/** What Activities count and measure. Labels are bounded: codes and outcomes, never an id or the name of a host. */
export interface WorkerMetrics {
  measureManagerCall(call: ManagerCall, outcome: CallOutcome, seconds: number): void;
  /** A failure that an Activity reported, by its code of docs/error-codes.md. */
  countFailure(errorCode: string): void;
  countHosts(outcome: HostOutcome, hosts: number): void;
  /** From the moment that a host's turn came until it was upgraded. */
  measureHost(seconds: number): void;
}

/** Metrics by a meter of the SDK, so that they are in the worker's own exporter. */
export function createWorkerMetrics(meter: MetricMeter): WorkerMetrics {
  const calls = meter.createHistogram(
    "ums_component_manager_call_duration_seconds",
    "float",
    undefined,
    "Exchanges with component managers",
  );
  const failures = meter.createCounter("ums_activity_failures", undefined, "Failures of Activities by error code");
  const hosts = meter.createCounter("ums_hosts", undefined, "Finished host upgrades and failed attempts, by outcome");
  const durations = meter.createHistogram(
    "ums_host_upgrade_duration_seconds",
    "float",
    undefined,
    "Duration of host upgrades",
  );
  // A counter that begins with its first event has no increase there that a query could see.
  for (const outcome of hostOutcomes) hosts.add(0, { outcome });
  meter.createCounter("ums_heartbeats_late", undefined, "Late heartbeats").add(0);
  return {
    measureManagerCall: ({ product, operation }, outcome, seconds) =>
      calls.record(seconds, { product, operation, outcome }),
    countFailure: (errorCode) => failures.add(1, { error_code: errorCode }),
    countHosts: (outcome, count) => hosts.add(count, { outcome }),
    measureHost: (seconds) => durations.record(seconds),
  };
}
