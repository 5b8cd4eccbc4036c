import { expect } from "chai";
import type { Task } from "../../../src/domain/spec/task";
import { monitoringQueries } from "../../support/monitoring-queries";
import { metricsIn, seriesIn } from "../../support/promql";
import { type ReceivedSpan, startTraceReceiver, type TraceReceiver } from "../../support/trace-receiver";
import { freePorts, type LogLine, until } from "../../support/service/deployment";
import { hostsOf, ServiceUnderTest } from "../../support/service/service-under-test";
import { attempts, clientTrace, failing, requestIds, runStory, stumbling } from "./upgrade-story";

type Line = LogLine & Readonly<Record<string, unknown>>;

/** Attempts of the story that fail: one of the one host, all of the other. */
const failures = 1 + attempts;

/**
 * The story of one upgrade that a client drafts, commits, pauses, resumes and retries, and of which hosts fail: whatever
 * is asserted below is read from what the service tells of itself.
 */
describe("what operators see of an upgrade", function () {
  this.timeout(180_000);
  let receiver: TraceReceiver;
  let service: ServiceUnderTest;
  let metricsUrls: { readonly api: string; readonly worker: string };
  let task: Task;

  before(async () => {
    receiver = await startTraceReceiver();
    const ports = await freePorts("api", "worker");
    const [api, worker] = [`127.0.0.1:${ports.api}`, `127.0.0.1:${ports.worker}`];
    metricsUrls = { api: `http://${api}/metrics`, worker: `http://${worker}/metrics` };
    service = await ServiceUnderTest.start({
      SIMULATOR_HOST_SECONDS: "1",
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_BSP_SCHEDULE_DELAY: "200",
      API_METRICS_ADDRESS: api,
      WORKER_METRICS_ADDRESS: worker,
    });
    task = await runStory(service);
    const phases = () => told(linesOf("worker"), "Upgrade entered a phase").map(({ phase }) => phase);
    await until("the end of the story is in the log", () => phases().at(-1) === "SUCCESSFUL");
  });
  after(async () => {
    await service.discard();
    receiver.close();
  });

  const linesOf = (role: "api" | "worker") =>
    (service.log(role) as Line[]).filter((line) => JSON.stringify(line).includes(task.id));
  const told = (lines: readonly Line[], msg: string) => lines.filter((line) => line.msg === msg);

  describe("in the logs, by the Task id alone", () => {
    it("each request to the API by the client's own request id, who sent it and from where", () => {
      const requests = told(linesOf("api"), "request answered");
      const changes = requests.filter(({ method }) => method !== "GET");
      expect(changes.map(({ method, status }) => `${String(method)} ${String(status)}`)).to.deep.equal([
        "POST 202",
        "PATCH 200",
        "POST 200",
        "POST 200",
        "PATCH 200",
      ]);
      expect(changes.map(({ requestId }) => requestId)).to.deep.equal(requestIds);
      const audited = linesOf("api").filter(({ event }) => event === "audit");
      expect(
        audited.map(({ requestId, caller, address, taskId }) => ({ requestId, caller, address, taskId })),
      ).to.deep.equal(
        requestIds.map((requestId) => ({ requestId, caller: "dev", address: "127.0.0.1", taskId: task.id })),
      );
    });

    it("the whole of it in its order: who asked for what, each phase, each host, each of its attempts and how many are left", () => {
      const host = (name: string, request: string, ...ends: readonly string[]) => [
        `${name} began, ${request}`,
        ...ends.map((end, i) => `${name} attempt ${i + 1} of ${attempts} ${end}`),
        `${name} ${ends.at(-1) === "UPGRADED" ? "SUCCESSFUL" : "FAILED"}, ${request}`,
      ];
      expect(toldStory(linesOf("worker"))).to.deep.equal([
        "begins for dev, story-start",
        "DRAFT_PRECHECKS, story-start",
        "DRAFT_WAITING, story-start",
        "commit by dev, story-commit",
        "ACCEPTED, story-commit",
        ...host("esx-01", "story-commit", "HOST_REMEDIATION_FAILED, 2 left", "UPGRADED"),
        ...host("esx-02", "story-commit", "UPGRADED"),
        ...host("esx-03", "story-commit", ...[2, 1, 0].map((left) => `HOST_REMEDIATION_FAILED, ${left} left`)),
        "FAILED, story-commit",
        "retry by dev, story-retry",
        "ACCEPTED, story-retry",
        ...host("esx-03", "story-retry", "UPGRADED"),
        ...host("esx-04", "story-retry", "UPGRADED"),
        "SUCCESSFUL, story-retry",
      ]);
    });

    it("a pause and its end, each under its own request, and the work that goes on under the one that began it", () => {
      const about = linesOf("worker").filter(
        ({ phase, request }) => phase === "PAUSED" || /pause|resume/.test(String(request)),
      );
      expect(about.map(({ requestId, phase, request }) => [requestId, phase ?? request])).to.deep.equal([
        ["story-pause", "PAUSED"],
        ["story-pause", "pause"],
        ["story-resume", "resume"],
      ]);
    });

    it("the component manager's own id of each remediation, so that it is found there", async () => {
      const tasks = new Map(
        told(linesOf("worker"), "Activity progress").flatMap(({ remoteTask, host }) =>
          remoteTask === undefined ? [] : [[remoteTask, String(host)] as const],
        ),
      );
      const counts: Record<string, number> = {};
      for (const host of tasks.values()) counts[host] = (counts[host] ?? 0) + 1;
      const remediated = Object.values(await service.remediations());
      expect(Object.values(counts).sort()).to.deep.equal(remediated.sort());
    });

    it("why it failed, how long it took and what became of its hosts", () => {
      const phases = told(linesOf("worker"), "Upgrade entered a phase");
      const failed = phases.find(({ phase }) => phase === "FAILED");
      expect(failed?.["errorCodes"]).to.deep.equal(["HOST_REMEDIATION_FAILED"]);
      expect(String(failed?.["errors"])).to.contain("a disk is full");
      expect(failed?.["hosts"]).to.deep.equal({ total: 4, upgraded: 2, skipped: 0, failed: 1, left: 1 });
      const end = phases.at(-1);
      expect(end?.["hosts"]).to.deep.equal({ total: 4, upgraded: 4, skipped: 0, failed: 0, left: 0 });
      expect(end?.["seconds"]).to.be.a("number").and.above(1);
    });

    it("each of its lines once: what is polled is not told at every poll", () => {
      const lines = linesOf("worker").filter(({ msg }) => msg === "Activity progress" || msg === "Resource waits");
      const attemptsOf = hostsOf(task).length + failures;
      expect(lines.length).to.be.below(attemptsOf * 14);
    });

    it("each phase once, in order, and the request that began the work", () => {
      const lines = linesOf("worker");
      expect(told(lines, "Upgrade entered a phase").map(({ phase }) => phase)).to.deep.equal([
        "DRAFT_PRECHECKS",
        "DRAFT_WAITING",
        "ACCEPTED",
        "RUNNING",
        "PAUSED",
        "RUNNING",
        "FAILED",
        "ACCEPTED",
        "RUNNING",
        "SUCCESSFUL",
      ]);
      const [accepted] = told(lines, "Request accepted");
      expect(accepted).to.include({ request: "commit", requestId: "story-commit", taskId: task.id });
      const doing = told(lines, "Resource entered a phase").map((line) => line["doing"]);
      expect(doing.slice(0, 3)).to.deep.equal(["Waiting for its turn", "Preparing", "Upgrading hosts"]);
    });

    it("each step of each host with its time, and why one of them failed", () => {
      const lines = linesOf("worker");
      const ended = told(lines, "activity ended").filter(({ activity }) => activity === "remediateHosts");
      expect(ended).to.have.length(hostsOf(task).length + failures);
      expect(told(lines, "activity started")).to.have.length(told(lines, "activity ended").length);
      for (const line of ended) expect(line["milliseconds"]).to.be.a("number");
      const failed = ended.filter(({ outcome }) => outcome === "failed");
      expect(failed).to.have.length(failures);
      const about = { host: stumbling, cluster: "fra1-mgmt-cl01", componentManager: "fra1-vc01", taskId: task.id };
      expect(failed[0]).to.include({ ...about, attempt: 1, attempts, errorCode: "HOST_REMEDIATION_FAILED" });
      expect(lines.filter(({ msg }) => msg.includes("bootbank is too small"))).to.have.length(1);
      expect(lines.filter(({ msg }) => msg.includes("a disk is full"))).to.have.length(attempts);
    });

    it("lines of the Workflow of a cluster as well: every line of the worker about an upgrade has its Task id", () => {
      const about = (service.log("worker") as Line[]).filter(
        ({ workflowType, activity }) => workflowType !== undefined || activity !== undefined,
      );
      expect(about.map(({ workflowType }) => workflowType)).to.include("clusterUpgradeWorkflow");
      expect(new Set(about.map(({ taskId }) => taskId))).to.deep.equal(new Set([task.id]));
      // What a Signal does is in the trace of its request, all else in that of the start.
      expect(about.filter((line) => typeof line["trace_id"] !== "string")).to.deep.equal([]);
      const traced = about.filter((line) => line["trace_id"] === clientTrace);
      expect(traced.map(({ phase }) => phase)).to.include.members(["DRAFT_PRECHECKS", "FAILED", "SUCCESSFUL"]);
    });
  });

  describe("in the logs, by the id of a request alone", () => {
    it("what the API did of it, and all that it has set going in the worker", () => {
      const of = (role: "api" | "worker") =>
        (service.log(role) as Line[]).filter(({ requestId }) => requestId === "story-retry");
      expect(of("api").map(({ msg }) => msg)).to.include.members(["audit: retryTask", "request answered"]);
      const remediated = told(of("worker"), "activity ended").filter(({ activity }) => activity === "remediateHosts");
      expect(remediated.map(({ host }) => host)).to.deep.equal([failing, "fra1-esx-04.mgmt.example.com"]);
      expect(told(of("worker"), "Upgrade entered a phase").at(-1)).to.include({ phase: "SUCCESSFUL" });
    });
  });

  describe("in Temporal", () => {
    it("the request id of the start is in the memo, and that of the commit in its Signal", async () => {
      await service.withTemporal(async (client) => {
        const handle = client.workflow.getHandle(task.id);
        expect((await handle.describe()).memo).to.include({ requestId: "story-start" });
        const { events } = await handle.fetchHistory();
        const signals = (events ?? []).flatMap(({ workflowExecutionSignaledEventAttributes: signal }) =>
          signal?.signalName === "commit" ? [String(signal.input?.payloads?.[0]?.data)] : [],
        );
        expect(signals).to.have.length(1);
        expect(signals[0]).to.contain('"referenceToken":"story-commit"');
      });
    });

    it("no Workflow Task has failed", async () => {
      await service.withTemporal(async (client) => {
        for await (const { workflowId, runId } of client.workflow.list()) {
          const { events } = await client.workflow.getHandle(workflowId, runId).fetchHistory();
          const failures = (events ?? []).flatMap((event) => event.workflowTaskFailedEventAttributes ?? []);
          expect(
            failures.map(({ cause, failure }) => ({ workflowId, cause, message: failure?.message })),
          ).to.deep.equal([]);
        }
      });
    });
  });

  describe("in traces", () => {
    const spansOf = (traceId: string) => receiver.spans.filter((span) => span.traceId === traceId);
    const names = (spans: readonly ReceivedSpan[]) =>
      spans.map(({ service: role, name }) => `${role.replace(/.*-/, "")} ${name}`);

    it("one trace goes on from the client's over the Workflows and Activities to the component manager", async () => {
      await until("the spans of all hosts have come", () => {
        const remediated = spansOf(clientTrace).filter(({ name }) => name === "RunActivity:remediateHosts");
        return remediated.length === hostsOf(task).length + failures;
      });
      const spans = spansOf(clientTrace);
      expect(names(spans)).to.include.members([
        "api POST /v1/upgrades",
        "api StartWorkflow:upgradeWorkflow",
        "worker RunActivity:remediateHosts",
        "worker vlcm change",
      ]);
      const start = spans.find(({ name }) => name === "POST /v1/upgrades");
      expect(start?.attributes).to.include({ "ums.request.id": "story-start", "ums.task.id": task.id });
      const byId = new Map(spans.map((span) => [span.spanId, span]));
      const ancestors = (span: ReceivedSpan): string[] => {
        const parent = byId.get(span.parentSpanId);
        return parent ? [parent.name, ...ancestors(parent)] : [];
      };
      const call = spans.find(({ attributes }) =>
        /^start the remediation/.test(String(attributes["ums.component_manager.call"])),
      );
      if (!call) throw new Error("No span of a remediation's start");
      expect(call.attributes["ums.task.id"]).to.equal(task.id);
      expect(ancestors(call)).to.deep.equal([
        "RunActivity:remediateHosts",
        "StartWorkflow:upgradeWorkflow",
        "POST /v1/upgrades",
      ]);
    });

    it("each attempt of each host is a span with its host, what became of it, and the request that caused it", async () => {
      const remediations = () =>
        spansOf(clientTrace)
          .filter(({ name }) => name === "RunActivity:remediateHosts")
          .map(({ attributes }) =>
            [
              shortName(attributes["ums.host"]),
              `${attributes["ums.activity.attempt"]}/${attributes["ums.activity.attempts"]}`,
              attributes["ums.error.code"] ?? attributes["ums.activity.outcome"],
              attributes["ums.request.id"],
            ].join(" "),
          );
      await until("the spans have come", () => remediations().length === hostsOf(task).length + failures);
      const failed = "HOST_REMEDIATION_FAILED story-commit";
      expect(remediations().sort()).to.deep.equal([
        `esx-01 1/3 ${failed}`,
        "esx-01 2/3 completed story-commit",
        "esx-02 1/3 completed story-commit",
        `esx-03 1/3 ${failed}`,
        "esx-03 1/3 completed story-retry",
        `esx-03 2/3 ${failed}`,
        `esx-03 3/3 ${failed}`,
        "esx-04 1/3 completed story-retry",
      ]);
    });

    it("a request is found by its id with all that it has set going, down to the component manager", () => {
      const caused = receiver.spans.filter(({ attributes }) => attributes["ums.request.id"] === "story-retry");
      expect(names(caused)).to.include.members([
        "api PATCH /v1/tasks/{id}",
        "api SignalWorkflow:retry",
        "worker RunActivity:remediateHosts",
        "worker vlcm change",
      ]);
    });

    it("the commit is a trace of its own, from the request to the lines of the Workflow that takes the Signal", () => {
      const commit = receiver.spans.find(
        ({ name, attributes }) => name.startsWith("PATCH") && attributes["ums.request.id"] === "story-commit",
      );
      if (!commit) throw new Error("No span of the commit");
      expect(names(spansOf(commit.traceId))).to.include.members([
        "api PATCH /v1/upgrades/{id}",
        "api SignalWorkflow:commit",
      ]);
      const taken = (service.log("worker") as Line[]).filter((line) => line["trace_id"] === commit.traceId);
      expect(taken.map(({ msg }) => msg)).to.deep.equal(["Request accepted"]);
      expect(commit.attributes["ums.task.id"]).to.equal(task.id);
    });

    it("no span has a secret, a memo or a probe", () => {
      const all = receiver.spans.map(({ json }) => json).join("\n");
      for (const secret of ["Bearer", "Basic ", "vmware-api-session-id", "simulator-password", '"memo"', "/health"])
        expect(all.includes(secret), secret).to.equal(false);
    });
  });

  describe("in metrics", () => {
    const scrape = async (url: string) => (await fetch(url)).text();

    it("both addresses and the API's own port tell the upgrade", async () => {
      const [api, own, worker] = await Promise.all([
        scrape(metricsUrls.api),
        scrape(`${service.apiUrl}/metrics`),
        scrape(metricsUrls.worker),
      ]);
      expect(api).to.contain('ums_http_requests_total{route="/v1/upgrades",method="POST",status="202"} 1');
      for (const text of [api, own]) {
        expect(text).to.contain("ums_upgrades_known 1");
        expect(text).to.match(
          /^ums_http_request_duration_seconds_count\{route="\/v1\/tasks\/\{id\}",method="GET"\} \d+$/m,
        );
        expect(text).to.match(
          /^ums_temporal_call_duration_seconds_count\{operation="StartWorkflowExecution",result="OK"\} 1$/m,
        );
      }
      expect(worker).to.contain(`ums_hosts_total{outcome="failed"} ${failures}`);
      expect(worker).to.contain(`ums_hosts_total{outcome="upgraded"} ${hostsOf(task).length}`);
      expect(worker).to.contain(`ums_activity_failures_total{error_code="HOST_REMEDIATION_FAILED"} ${failures}`);
      expect(worker).to.match(
        /^ums_upgrades_ended_total\{error_code="HOST_REMEDIATION_FAILED".*phase="FAILED".*\} 1$/m,
      );
      expect(api).to.contain('ums_http_requests_total{route="/v1/upgrades/{id}/pause",method="POST",status="200"} 1');
      expect(api).to.contain('ums_http_requests_total{route="/v1/tasks/{id}",method="PATCH",status="200"} 1');
      expect(worker).to.match(/^ums_upgrades_ended_total\{.*phase="SUCCESSFUL".*\} 1$/m);
      expect(worker).to.contain(`ums_host_upgrade_duration_seconds_count ${hostsOf(task).length}`);
    });

    it("names no host, no cluster and no upgrade", async () => {
      const text = (await scrape(metricsUrls.api)) + (await scrape(metricsUrls.worker));
      for (const name of [task.id, stumbling, "fra1-", "domain-c34", "story-"])
        expect(text.includes(name), name).to.equal(false);
    });

    it("counts upgrades as Temporal knows them", async () => {
      await until("the success is counted", async () =>
        (await scrape(metricsUrls.api)).includes('ums_upgrades{status="COMPLETED_WITH_SUCCESS"} 1'),
      );
    });

    it("has every metric that the dashboard, the alerts and the SLOs ask for", async () => {
      const exposed = seriesIn((await scrape(metricsUrls.api)) + (await scrape(metricsUrls.worker)));
      const missing = monitoringQueries().flatMap(({ where, expression }) =>
        metricsIn(expression).flatMap((name) =>
          exposed.has(name) || onlyAfterAFailure.has(name) ? [] : [`${where}: ${name}`],
        ),
      );
      expect(missing).to.deep.equal([]);
    });
  });
});

/** Of the SDK's metrics one that this story must not have; its name is that of docs.temporal.io. */
const onlyAfterAFailure: ReadonlySet<string> = new Set(["temporal_workflow_task_execution_failed_total"]);

/** An upgrade's story as a reader of the worker's log puts it together, without what is not in a certain order. */
function toldStory(lines: readonly Line[]): string[] {
  return lines.flatMap((line) => {
    const { msg, requestId, activity } = line;
    const text = (name: string) => String(line[name]);
    const because = String(requestId);
    if (msg === "Upgrade started") return [`begins for ${text("requestedBy")}, ${because}`];
    if (msg === "Upgrade entered a phase")
      return ["RUNNING", "PAUSED"].includes(text("phase")) ? [] : [`${text("phase")}, ${because}`];
    if (msg === "Request accepted")
      return ["pause", "resume"].includes(text("request"))
        ? []
        : [`${text("request")} by ${text("requestedBy")}, ${because}`];
    if (msg === "Upgrade of a part started") return [`${shortName(line["host"])} began, ${because}`];
    if (msg === "Upgrade of a part ended") return [`${shortName(line["host"])} ${text("status")}, ${because}`];
    if (msg !== "activity ended" || activity !== "remediateHosts") return [];
    const end = line["result"] ?? `${text("errorCode")}, ${text("attemptsLeft")} left`;
    return [`${shortName(line["host"])} attempt ${text("attempt")} of ${text("attempts")} ${String(end)}`];
  });
}

/** `esx-01` of `fra1-esx-01.mgmt.example.com`. */
function shortName(host: unknown): string {
  return /esx-\d+/.exec(String(host))?.[0] ?? "no host";
}
