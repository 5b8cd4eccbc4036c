import { expect } from "chai";
import type { ErrorBody } from "../../../src/domain/errors";
import type { Cluster } from "../../../src/domain/spec/cluster";
import type { Task } from "../../../src/domain/spec/task";
import { DocumentedCommands } from "../../support/documented-commands";
import { temporalCli } from "../../support/workflow-environment";
import { exampleNow } from "../../support/service/examples";
import { NpmStart } from "../../support/service/npm-start";
import { hostsOf, ServiceUnderTest, until } from "../../support/service/service-under-test";
import { CheckoutCopy } from "./checkout-copy";

/** Clusters of config/inventory.yaml, by what becomes of their upgrades. */
const clusters = {
  repaired: { resourceId: "4a6c1a1e-51b2-4d3c-9e0f-000000000034", cluster: "domain-c34" },
  cancelled: { resourceId: "4a6c1a1e-51b2-4d3c-9e0f-000000000021", cluster: "domain-c21" },
  terminated: { resourceId: "4a6c1a1e-51b2-4d3c-9e0f-000000000008", cluster: "domain-c8" },
} as const;
type Which = keyof typeof clusters;

/** How long after a deployment Tasks may take to say so: three tries of ten seconds each, and a busy machine. */
const untilTold = 60;

interface Readiness {
  readonly status: string;
  readonly problems?: readonly ErrorBody[];
}

/**
 * A worker of a broken build takes over running upgrades. The Workflow of two clusters asks for a timer first, which is not what
 * their histories say, and that of one upgrade throws.
 */
describe("A build that cannot continue running upgrades", function () {
  this.timeout(240_000);
  let copy: CheckoutCopy;
  let service: ServiceUnderTest;
  let documented: DocumentedCommands;
  const ids = {} as Record<Which, string>;
  const settings = {} as Record<Which, { readonly policy: object }>;

  before(async () => {
    copy = new CheckoutCopy();
    documented = new DocumentedCommands("operating.md", "## A Workflow is blocked", temporalCli());
    const variables = { SIMULATOR_HOST_SECONDS: "6", POLL_MIN_MILLISECONDS: "50" };
    service = await ServiceUnderTest.on(await NpmStart.prepare(variables, copy.folder));
    for (const which of Object.keys(clusters) as Which[]) {
      settings[which] = (await service.policy(clusters[which].cluster)) as { policy: object };
      ids[which] = await begin(which);
    }
    for (const id of Object.values(ids)) await service.taskWhen(id, "has a host in work", hasHostInWork);
    copy.build({
      clusterUpgradeWorkflow: `if (["${clusters.repaired.resourceId}", "${clusters.cancelled.resourceId}"].includes($input.cluster.resourceId)) await (0,_temporalio_workflow__WEBPACK_IMPORTED_MODULE_0__.sleep)(1);`,
      upgradeWorkflow: `if ($input.id === "${ids.terminated}") throw new TypeError("a deliberate bug");`,
    });
    await deploy();
  });
  after(async () => {
    documented.discard();
    // A build that breaks histories is what this is about.
    await service.discardUnsound();
    copy.discard();
  });

  /** Starts an upgrade of one of the clusters; its options change the settings of the cluster meanwhile. */
  async function begin(which: Which): Promise<string> {
    const spec = exampleNow("cluster-draft");
    const [cluster] = spec.resourceUpgradeSpecs;
    const { resourceId } = clusters[which];
    return (await service.startUpgrade({ ...spec, resourceUpgradeSpecs: [{ ...cluster, resourceId }] })).id;
  }

  /** Replaces the worker by one of the build that is there now. */
  async function deploy(): Promise<void> {
    const [before] = service.signal("worker", "SIGTERM");
    await until("another worker runs", () => {
      const [now] = service.processes().worker ?? [];
      return now !== undefined && now !== before;
    });
  }

  /** How often each host of a Task was begun, by whichever upgrade. */
  async function remediationsOf(task: Task): Promise<(number | undefined)[]> {
    const counts = await service.remediations();
    return hostsOf(task).map(({ resources }) => counts[resources?.[0]?.resourceId ?? ""]);
  }

  const blockedTask = (id: string) =>
    service.taskWhen(id, "says that it is blocked", ({ waitingFor }) => waitingFor !== undefined, untilTold);
  const holderOf = async (which: Which) =>
    (await service.get<Cluster>(`/v1/clusters/${clusters[which].resourceId}`)).body.heldBy;
  const lockOf = (which: Which) => `cluster/${clusters[which].resourceId}`;
  const run = (words: readonly string[], variables: Readonly<Record<string, string>>) =>
    documented.run(words, { TEMPORAL_ADDRESS: service.temporalPlace.address, ...variables });
  /** What those who begin to follow a Task are told first. */
  async function firstEvent(id: string): Promise<string> {
    const { body } = await fetch(`${service.apiUrl}/v1/tasks/${id}/events`, { signal: AbortSignal.timeout(20_000) });
    let told = "";
    for await (const chunk of body ?? []) {
      told += Buffer.from(chunk).toString();
      if (told.includes("\n\n") && told.includes("data:")) break;
    }
    return told;
  }
  const readiness = async () => (await service.get<Readiness>("/health/ready")).body;
  const gauge = async (workflow: string) => {
    const text = await (await fetch(`${service.apiUrl}/metrics`)).text();
    return new RegExp(`^ums_workflows_blocked\\{workflow="${workflow}"\\} (\\d+)$`, "m").exec(text)?.[1];
  };

  it("is told on the Task: which Workflow, since when, why, and what to do", async () => {
    const task = await blockedTask(ids.repaired);
    expect(task.status).to.equal("In Progress");
    expect(task.waitingFor?.code).to.equal("WORKFLOW_TASK_FAILING");
    expect(task.waitingFor?.attempts).to.be.at.least(3);
    expect(task.waitingFor?.since).to.match(/^\d{4}-/);
    const error = blockedErrorOf(task);
    expect(error.context).to.include({ workflowId: lockOf("repaired"), upgradeId: ids.repaired });
    expect(error.message).to.contain(lockOf("repaired")).and.to.contain("Nondeterminism error");
    expect(error.remediationMessage).to.contain("Deploy workers of a build that can continue it");
    const [cluster] = task.subTasks?.at(-1)?.subTasks ?? [];
    expect(cluster?.waitingFor?.code).to.equal("WORKFLOW_TASK_FAILING");
    expect(cluster?.errors?.map(({ errorCode }) => errorCode)).to.deep.equal(["WORKFLOW_BLOCKED"]);
  });

  it("is told where the Workflow of the upgrade itself is blocked, and its Task is still read quickly", async () => {
    const told = await blockedTask(ids.terminated);
    expect(blockedErrorOf(told).message).to.contain("The Workflow of this upgrade").and.to.contain("a deliberate bug");
    expect(hostsOf(told)).to.have.length(8);
    const began = Date.now();
    expect((await service.get(`/v1/tasks/${ids.terminated}`)).status).to.equal(200);
    // A Query that nobody answers alone would take longer.
    expect(Date.now() - began).to.be.below(2_000);
    expect((await service.get(`/v1/upgrades/${ids.terminated}`)).body).to.include({ status: "INPROGRESS" });
  });

  it("is told to those who follow the Task, by readiness, which still lets requests in, by metrics and in the log", async () => {
    await blockedTask(ids.cancelled);
    await until(
      "metrics count all three",
      async () => (await gauge("cluster")) === "2" && (await gauge("upgrade")) === "1",
    );
    expect(await gauge("notifications")).to.equal("0");
    const { status, problems } = await readiness();
    expect([status, problems?.map(({ errorCode }) => errorCode)]).to.deep.equal(["UP", ["WORKFLOW_BLOCKED"]]);
    const named = problems?.[0]?.context?.["upgradeIds"]?.split(",") ?? [];
    expect(named).to.have.members(Object.values(ids));
    const logged = () =>
      service.log("api").flatMap((line) => {
        const { errorCode, taskId } = line as { errorCode?: string; taskId?: string };
        return errorCode === "WORKFLOW_BLOCKED" && taskId !== undefined ? [taskId] : [];
      });
    await until("the log names each", () => Object.values(ids).every((id) => logged().includes(id)));
    expect(await firstEvent(ids.cancelled))
      .to.contain("WORKFLOW_TASK_FAILING")
      .and.to.contain("WORKFLOW_BLOCKED");
  });

  it("leaves the cancellation of an upgrade with a blocked cluster waiting for it, until that is terminated", async () => {
    const { context } = blockedErrorOf(await blockedTask(ids.cancelled));
    expect((await service.send("DELETE", `/v1/tasks/${ids.cancelled}`)).status).to.equal(200);
    expect((await service.task(ids.cancelled)).status).to.equal("In Progress");
    expect(await holderOf("cancelled")).to.equal(ids.cancelled);
    await run(["terminate", "--workflow-id $lock"], { lock: lockOf("cancelled") });
    await service.taskWhen(ids.cancelled, "is cancelled", ({ status }) => status === "Cancelled");
    expect(await holderOf("cancelled")).to.equal(undefined);
    // What the operator has to restore, and how they find what it was.
    expect(await service.policy(clusters.cancelled.cluster)).not.to.deep.equal(settings.cancelled);
    const found = await run(["workflow show"], { lock: lockOf("cancelled"), run: context?.["runId"] ?? "" });
    expect(JSON.parse(found)).to.deep.equal(settings.cancelled.policy);
  });

  it("keeps a cancellation of a blocked upgrade; terminated, it has its cluster stop safely and release the lock", async () => {
    const refused = await service.send<ErrorBody>("DELETE", `/v1/tasks/${ids.terminated}`);
    expect([refused.status, refused.body.errorCode]).to.deep.equal([424, "REQUEST_NOT_YET_APPLIED"]);
    expect(refused.body.message).to.contain("a deliberate bug");
    expect(refused.body.remediationMessage).to.contain("Do not send it again").and.to.contain("terminate");
    await run(["terminate", "--workflow-id $id "], { id: ids.terminated });
    await until("the lock is released", async () => (await holderOf("terminated")) === undefined);
    const task = await service.task(ids.terminated);
    expect([task.status, task.errors?.map(({ errorCode }) => errorCode)]).to.deep.equal(["Failed", ["UPGRADE_LOST"]]);
    expect(await service.policy(clusters.terminated.cluster)).to.deep.equal(settings.terminated);
  });

  it("lets new upgrades of both clusters begin", async () => {
    for (const which of ["cancelled", "terminated"] as const) {
      ids[which] = await begin(which);
      // On a slow machine the cluster of the terminated upgrade has no host left to upgrade.
      const hasBegun = (task: Task) => hasHostInWork(task) || task.status === "SKIPPED";
      await service.taskWhen(ids[which], "has begun", hasBegun);
    }
  });

  it("is over when a repaired build runs: the upgrade succeeds, and each host is remediated once", async () => {
    copy.build({});
    await deploy();
    const task = await service.taskWhen(ids.repaired, "is successful", ({ status }) => status === "Successful", 120);
    expect([task.errors, task.waitingFor]).to.deep.equal([undefined, undefined]);
    expect(await remediationsOf(task)).to.deep.equal([1, 1, 1, 1]);
    expect(await service.policy(clusters.repaired.cluster)).to.deep.equal(settings.repaired);
  });

  it("has a Workflow that it began, and that no other build can continue, reset as documented", async () => {
    await blockedTask(ids.cancelled);
    await run(["reset", "--workflow-id $lock"], { lock: lockOf("cancelled") });
    const task = await service.taskWhen(ids.cancelled, "is successful", ({ status }) => status === "Successful", 120);
    // The Task shows the run that follows the reset: the hosts that it has upgraded, and those that it found upgraded.
    const statuses = new Set(hostsOf(task).map(({ status }) => status));
    expect([...statuses]).to.have.members(["SUCCESSFUL", "NOT_APPLICABLE"]);
    expect(await remediationsOf(task)).to.deep.equal([1, 1, 1, 1, 1, 1]);
    expect(await holderOf("cancelled")).to.equal(undefined);
  });

  it("leaves no trace once all is well", async () => {
    await until("nothing is blocked", async () => (await gauge("cluster")) === "0" && (await gauge("upgrade")) === "0");
    expect(await readiness()).to.deep.equal({ status: "UP" });
  });
});

const hasHostInWork = (task: Task) => hostsOf(task).some(({ status }) => status === "IN_PROGRESS");

function blockedErrorOf({ errors = [] }: Task): ErrorBody {
  const error = errors.find(({ errorCode }) => errorCode === "WORKFLOW_BLOCKED");
  if (!error) throw new Error(`No WORKFLOW_BLOCKED: ${JSON.stringify(errors)}`);
  return error;
}
