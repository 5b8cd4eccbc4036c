import { expect } from "chai";
import type { Task } from "../../../src/domain/task";
import { metricsIn, seriesIn } from "../../support/promql";
import { monitoringQueries } from "../../support/monitoring-queries";
import { startTraceReceiver, type ReceivedSpan, type TraceReceiver } from "../../support/trace-receiver";
import { freePorts, until, type LogLine } from "../deployment";
import { exampleNow } from "../examples";
import { hostsOf, ServiceUnderTest } from "../service-under-test";

type Line = LogLine & Readonly<Record<string, unknown>>;

const clientTrace = "4bf92f3577b34da6a3ce929d0e0e4736";
const host = "fra1-esx-01.mgmt.example.com";

/**
 * The story of one upgrade that a client drafts and commits, and of which a host fails once: whatever is asserted below
 * is read from what the service tells of itself.
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
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_BSP_SCHEDULE_DELAY: "200",
      API_METRICS_ADDRESS: api,
      WORKER_METRICS_ADDRESS: worker,
    });
    await service.fault({ kind: "REMEDIATION_FAILS", host, times: 1, message: "bootbank is too small" });
    task = await runStory(service);
  });
  after(async () => {
    await service.discard();
    receiver.close();
  });

  const linesOf = (role: "api" | "worker") =>
    (service.log(role) as Line[]).filter((line) => JSON.stringify(line).includes(task.id));
  const told = (lines: readonly Line[], msg: string) => lines.filter((line) => line.msg === msg);

  describe("in the logs, by the Task id alone", () => {
    it("each request to the API: its start by the client's own request id, and its commit", () => {
      const requests = told(linesOf("api"), "request answered");
      const changes = requests.filter(({ method }) => method !== "GET");
      expect(changes.map(({ method, status, taskId }) => ({ method, status, taskId }))).to.deep.equal([
        { method: "POST", status: 202, taskId: task.id },
        { method: "PATCH", status: 200, taskId: task.id },
      ]);
      expect(changes.map(({ requestId }) => requestId)).to.deep.equal(["story-start", "story-commit"]);
    });

    it("each phase once, in order, and the request that began the work", () => {
      const lines = linesOf("worker");
      expect(told(lines, "The upgrade entered a phase").map(({ phase }) => phase)).to.deep.equal([
        "DRAFT_PRECHECKS",
        "DRAFT_WAITING",
        "ACCEPTED",
        "RUNNING",
        "SUCCESSFUL",
      ]);
      const [accepted] = told(lines, "Request accepted");
      expect(accepted).to.include({ request: "commit", requestId: "story-commit", taskId: task.id });
      const doing = told(lines, "A resource entered a phase").map((line) => line["doing"]);
      expect(doing.slice(0, 3)).to.deep.equal(["Waiting for its turn", "Preparing", "Upgrading hosts"]);
    });

    it("each step of each host with its time, and why one of them failed", () => {
      const lines = linesOf("worker");
      const ended = told(lines, "activity ended").filter(({ activity }) => activity === "remediateHost");
      expect(ended).to.have.length(hostsOf(task).length + 1);
      expect(told(lines, "activity started")).to.have.length(told(lines, "activity ended").length);
      for (const line of ended) expect(line["milliseconds"]).to.be.a("number");
      const failed = ended.filter(({ outcome }) => outcome === "failed");
      expect(failed).to.have.length(1);
      expect(failed[0]).to.include({ on: host, attempt: 1, errorCode: "HOST_REMEDIATION_FAILED", taskId: task.id });
      expect(lines.filter(({ msg }) => msg.includes("bootbank is too small"))).to.have.length(1);
    });

    it("lines of the Workflow of a cluster as well: every line of the worker about an upgrade has its Task id", () => {
      const about = (service.log("worker") as Line[]).filter(
        ({ workflowType, activity }) => workflowType !== undefined || activity !== undefined,
      );
      expect(about.map(({ workflowType }) => workflowType)).to.include("clusterUpgradeWorkflow");
      expect(new Set(about.map(({ taskId }) => taskId))).to.deep.equal(new Set([task.id]));
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

    it("one trace goes on from the client's through the Workflows and Activities to the component manager", async () => {
      await until("the Workflow's own span has come", () =>
        spansOf(clientTrace).some(({ name }) => name === "RunWorkflow:upgradeWorkflow"),
      );
      const spans = spansOf(clientTrace);
      expect(names(spans)).to.include.members([
        "api POST /v1/upgrades",
        "api StartWorkflow:upgradeWorkflow",
        "worker RunWorkflow:upgradeWorkflow",
        "worker StartChildWorkflow:clusterUpgradeWorkflow",
        "worker RunActivity:remediateHost",
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
        "RunActivity:remediateHost",
        "StartActivity:remediateHost",
        "RunWorkflow:clusterUpgradeWorkflow",
        "StartChildWorkflow:clusterUpgradeWorkflow",
        "RunWorkflow:upgradeWorkflow",
        "StartWorkflow:upgradeWorkflow",
        "POST /v1/upgrades",
      ]);
    });

    it("the commit is a trace of its own, from the request to the Workflow that takes the Signal", () => {
      const commit = receiver.spans.find(({ attributes }) => attributes["ums.request.id"] === "story-commit");
      if (!commit) throw new Error("No span of the commit");
      expect(names(spansOf(commit.traceId))).to.include.members([
        "api PATCH /v1/upgrades/{id}",
        "api SignalWorkflow:commit",
        "worker HandleSignal:commit",
      ]);
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
      expect(worker).to.contain('ums_hosts_total{outcome="failed"} 1');
      expect(worker).to.contain(`ums_hosts_total{outcome="upgraded"} ${hostsOf(task).length}`);
      expect(worker).to.contain('ums_activity_failures_total{error_code="HOST_REMEDIATION_FAILED"} 1');
      expect(worker).to.match(/^ums_upgrades_ended_total\{.*phase="SUCCESSFUL".*\} 1$/m);
      expect(worker).to.contain(`ums_host_upgrade_duration_seconds_count ${hostsOf(task).length}`);
    });

    it("names no host, no cluster and no upgrade", async () => {
      const text = (await scrape(metricsUrls.api)) + (await scrape(metricsUrls.worker));
      for (const name of [task.id, host, "fra1-", "domain-c34", "story-"])
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

/** Drafts an upgrade, commits it and waits for its end. */
async function runStory(service: ServiceUnderTest): Promise<Task> {
  const spec = exampleNow("cluster-draft");
  const [resource] = spec.resourceUpgradeSpecs;
  const retries = { hostosUpgradeFailureAction: { action: "RETRY", retryCount: 2, retryDelay: 0 } };
  const resourceUpgradeSpecs = [{ ...resource, hostosUpgradeOptionsSpec: retries }];
  const traceparent = `00-${clientTrace}-00f067aa0ba902b7-01`;
  const { body } = await service.post<Task>(
    "/v1/upgrades",
    { ...spec, draftMode: true, resourceUpgradeSpecs },
    { "x-request-id": "story-start", traceparent },
  );
  await service.taskWhen(body.id, "waits for its commit", ({ status }) => status === "Pending");
  const commit = await fetch(`${service.apiUrl}/v1/upgrades/${body.id}`, {
    method: "PATCH",
    headers: { authorization: "Bearer test", "content-type": "application/json", "x-request-id": "story-commit" },
    body: "{}",
  });
  expect(commit.status).to.equal(200);
  return service.taskWhen(body.id, "has ended", ({ status }) => status === "Successful");
}
