import * as E from "fp-ts/Either";
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";
import type { CallOutcome, ManagerCall } from "../../activities/drivers/call-observation";
import type { ApiMiddleware } from "../api/api-context";
import { type Load, type LoadControl, loads, type ShedReason, shedReasons } from "../api/load-control";
import type { FreezeStatus } from "../domain/freeze";
import type { PageOfHold } from "../domain/hold";
import type { WorkflowKind } from "../domain/task/lost-upgrade";
import type { UpgradeCounts } from "../temporal/upgrade-counter";
import { callSeconds } from "./buckets";

/** What the API counts and measures, for `GET /metrics` (docs/observability.md). */
export interface ApiMetrics {
  readonly contentType: string;
  /** All metrics in the format of Prometheus. */
  read(): Promise<string>;
  /** Measures requests; to be put around all other middleware. */
  readonly measureRequests: ApiMiddleware;
  /** To be told of each call to Temporal when it has ended: gRPC method, status in words, seconds. */
  measureTemporalCall(operation: string, result: string, seconds: number): void;
  /** Counts a request that was shed. */
  countShed(load: Load, reason: ShedReason): void;
  /** Shows how many requests of each kind there are, asked at each scrape. To be called once. */
  showLoad(counts: LoadControl["counts"]): void;
  measureManagerCall(call: ManagerCall, outcome: CallOutcome, seconds: number): void;
}

/** What Temporal knows, asked at each scrape; undefined where it does not tell. */
interface TemporalCounts {
  upgrades(): Promise<UpgradeCounts | undefined>;
  freezes(): Promise<E.Either<unknown, FreezeStatus>>;
  holds(): Promise<E.Either<unknown, PageOfHold>>;
  blockedWorkflows(): Readonly<Record<WorkflowKind, number>> | undefined;
}

/**
 * Metrics of one API process. Labels are bounded: routes by their template, statuses, gRPC methods, kinds of Workflow; never
 * an id or the name of a host.
 */
export function createApiMetrics(temporal: TemporalCounts): ApiMetrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });

  const requests = new Counter({
    name: "ums_http_requests_total",
    help: "Answered requests by route template",
    labelNames: ["route", "method", "status"],
    registers,
  });
  const durations = new Histogram({
    name: "ums_http_request_duration_seconds",
    help: "Time from the first byte of a request to its answer; for streams, to their first byte",
    labelNames: ["route", "method"],
    buckets: callSeconds,
    registers,
  });
  const inFlight = new Gauge({ name: "ums_http_requests_in_flight", help: "Requests without an answer", registers });
  const streams = new Gauge({ name: "ums_event_streams", help: "Open event streams", registers });
  const temporalCalls = new Histogram({
    name: "ums_temporal_call_duration_seconds",
    help: "Calls to Temporal by gRPC method and result",
    labelNames: ["operation", "result"],
    buckets: callSeconds,
    registers,
  });
  const managerCalls = new Histogram({
    name: "ums_component_manager_call_duration_seconds",
    help: "HTTP exchanges with component managers, including sessions",
    labelNames: ["product", "operation", "outcome"],
    buckets: callSeconds,
    registers,
  });
  const shed = new Counter({
    name: "ums_http_requests_shed_total",
    help: "Requests shed because there were too many",
    labelNames: ["load", "reason"],
    registers,
  });
  // So that the first one is an increase too.
  for (const load of loads) for (const reason of shedReasons) shed.inc({ load: load.toLowerCase(), reason }, 0);
  upgradeGauges(registers, () => temporal.upgrades());
  blockedGauge(registers, () => temporal.blockedWorkflows());
  freezeGauge(registers, () => temporal.freezes());
  holdGauge(registers, () => temporal.holds());

  return {
    contentType: registry.contentType,
    read: () => registry.metrics(),
    measureTemporalCall: (operation, result, seconds) => temporalCalls.observe({ operation, result }, seconds),
    countShed: (load, reason) => shed.inc({ load: load.toLowerCase(), reason }),
    showLoad: (counts) => loadGauge(registers, counts),
    measureManagerCall: ({ product, operation }, outcome, seconds) =>
      managerCalls.observe({ product, operation, outcome }, seconds),
    measureRequests: async (ctx, next) => {
      const stop = durations.startTimer();
      inFlight.inc();
      try {
        await next();
      } finally {
        inFlight.dec();
        const labels = { route: ctx.state.route ?? "none", method: knownMethod(ctx.method) };
        stop(labels);
        requests.inc({ ...labels, status: String(ctx.status) });
        if (ctx.state.streams && !ctx.res.closed) {
          streams.inc();
          ctx.res.once("close", () => streams.dec());
        }
      }
    },
  };
}

function loadGauge(registers: Registry[], counts: LoadControl["counts"]): void {
  new Gauge({
    name: "ums_http_requests_admitted",
    help: "Admitted requests without an answer: all, waiting for a permit, running with one; and the number of permits",
    labelNames: ["load", "state"],
    registers,
    collect() {
      for (const [load, states] of counts())
        for (const [state, count] of Object.entries<number>({ ...states }))
          this.set({ load: load.toLowerCase(), state }, count);
    },
  });
}

/**
 * How many upgrades there are, as Temporal knows it: the same whichever API process is asked. Where Temporal does not
 * tell, there are no numbers rather than old ones, and `ums_upgrades_known` is 0.
 */
function upgradeGauges(registers: Registry[], readCounts: () => Promise<UpgradeCounts | undefined>): void {
  // Each reads for itself, because the gauges of one scrape are collected side by side; readers share one answer.
  new Gauge({
    name: "ums_upgrades",
    help: "Upgrades by status",
    labelNames: ["status"],
    registers,
    async collect() {
      const counts = await readCounts();
      this.reset();
      for (const [status, count] of Object.entries(counts?.byStatus ?? {})) this.set({ status }, count);
    },
  });
  new Gauge({
    name: "ums_oldest_draft_age_seconds",
    help: "Age of the oldest draft, 0 without drafts, NaN if unknown",
    registers,
    async collect() {
      this.set((await readCounts())?.oldestDraftSeconds ?? NaN);
    },
  });
  new Gauge({
    name: "ums_upgrades_known",
    help: "Whether the upgrade counts could be read from Temporal: 1 or 0",
    registers,
    async collect() {
      this.set((await readCounts()) ? 1 : 0);
    },
  });
}

/** As {@link upgradeGauges}: every API process tells the same, and no numbers where Temporal does not tell. */
function blockedGauge(registers: Registry[], readCounts: TemporalCounts["blockedWorkflows"]): void {
  new Gauge({
    name: "ums_workflows_blocked",
    help: "Workflows that cannot continue because their Workflow Task keeps failing",
    labelNames: ["workflow"],
    registers,
    collect() {
      this.reset();
      for (const [workflow, count] of Object.entries<number>({ ...readCounts() })) this.set({ workflow }, count);
    },
  });
}

/** As {@link upgradeGauges}: every API process tells the same. */
function freezeGauge(registers: Registry[], readFreeze: TemporalCounts["freezes"]): void {
  new Gauge({
    name: "ums_freezes",
    help: "Emergency stops in force, NaN where that is not known",
    registers,
    async collect() {
      const read = await readFreeze();
      this.set(E.isRight(read) ? read.right.freezes.length : NaN);
    },
  });
}

/** As {@link upgradeGauges}: every API process tells the same. */
function holdGauge(registers: Registry[], listHolds: TemporalCounts["holds"]): void {
  new Gauge({
    name: "ums_holds",
    help: "Holds of clusters and hosts in force, NaN where that is not known",
    registers,
    async collect() {
      const listed = await listHolds();
      this.set(E.isRight(listed) ? (listed.right.elements ?? []).length : NaN);
    },
  });
}

const methods: ReadonlySet<string> = new Set(["GET", "POST", "PATCH", "DELETE", "HEAD", "OPTIONS", "PUT"]);

/** Clients may call a method as they like. */
function knownMethod(method: string): string {
  return methods.has(method) ? method : "other";
}
