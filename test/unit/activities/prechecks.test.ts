import { expect } from "chai";
import type { ActivityLimits } from "../../../activities/activity-limits";
import type { ResourcePrechecks, ClusterTarget, PrecheckOptions } from "../../../activities/contract";
import { findingKey } from "../../../src/domain/task/findings";
import {
  failureOf,
  newVersion,
  oldVersion,
  runActivity,
  type SimulatedCluster,
  simulateCluster,
  startActivity,
  succeed,
  targetVersion,
  remediateHost,
} from "./simulated-cluster";

describe("runClusterPrechecks", function () {
  this.timeout(20_000);
  let cluster: SimulatedCluster;
  const start = async (management?: "IMAGE" | "BASELINE") => {
    cluster = await simulateCluster(management);
    await cluster.hostSeconds(0.05);
  };
  afterEach(() => cluster.close());

  const prechecks = (target: Partial<ClusterTarget & PrecheckOptions> = {}, limits?: Partial<ActivityLimits>) => {
    const activities = cluster.activities(limits);
    return () => activities.runClusterPrechecks({ ...cluster.target, ...target });
  };
  async function run(target: Partial<ClusterTarget & PrecheckOptions> = {}, limits?: Partial<ActivityLimits>) {
    const { stages, versions } = await succeed(prechecks(target, limits));
    return {
      stages,
      versions,
      statuses: Object.fromEntries(stages.map(({ type, status }) => [type, status])),
      failed: stages.filter(({ status }) => status === "FAILED").map(({ type }) => type),
      errors: stages.flatMap(({ errors = [] }) => errors),
      findings: stages.flatMap(({ findings = [] }) => findings),
    };
  }

  it("runs every check of a healthy cluster, and changes nothing of it", async () => {
    await start();
    const before = await cluster.state();
    const { stages, statuses, versions } = await run();
    expect(versions).to.deep.equal({ [oldVersion]: 2 });
    expect(statuses).to.deep.equal({
      COMPONENT_MANAGER_REACHABLE: "SUCCESSFUL",
      CLUSTER_IMAGE_MANAGED: "SUCCESSFUL",
      HOSTS_CONNECTED: "SUCCESSFUL",
      NO_HOST_IN_MAINTENANCE_MODE: "SUCCESSFUL",
      NO_OPERATION_IN_PROGRESS: "SUCCESSFUL",
      TARGET_IMAGE_AVAILABLE: "SUCCESSFUL",
      NO_DOWNGRADE: "SUCCESSFUL",
      CLUSTER_HEALTH: "SUCCESSFUL",
      ROOM_FOR_ROLLOUT: "SUCCESSFUL",
      CERTIFICATES_VALID: "SUCCESSFUL",
      CLOCKS_IN_SYNC: "SUCCESSFUL",
    });
    expect(stages.every(({ completionTimestamp, errors }) => completionTimestamp && !errors)).to.equal(true);
    const after = await cluster.state();
    expect(after.desiredImage).to.deep.equal(before.desiredImage);
    expect(after.drafts).to.deep.equal([]);
    expect(await cluster.steps()).to.deep.equal([]);
  });

  it("begins the health check again where a restart of the component manager has made it forget its task", async () => {
    await start();
    await cluster.hostSeconds(60);
    const running = startActivity(prechecks());
    while (!(await cluster.state()).runningTasks.some(({ kind }) => kind === "check"));
    await cluster.fault({ kind: "TASKS_FORGOTTEN" });
    await cluster.hostSeconds(0.05);
    const { result, error } = await running.end;
    expect(error).to.equal(undefined);
    expect(result?.stages.filter(({ status }) => status !== "SUCCESSFUL")).to.deep.equal([]);
  });

  it("heartbeats every stage as it finishes", async () => {
    await start();
    const { heartbeats } = await runActivity<ResourcePrechecks, ResourcePrechecks>(prechecks());
    const counts = new Set(heartbeats.map(({ stages }) => stages.length));
    expect([...counts]).to.deep.equal([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
  });

  it("lists every check where the component manager cannot be reached, without running it", async () => {
    await start();
    await cluster.fault({ kind: "SERVICE_UNAVAILABLE" });
    const { stages, errors } = await run({}, { outage: 20 });
    expect(stages).to.have.length(11);
    expect(stages.every(({ status }) => status === "FAILED")).to.equal(true);
    expect(errors[0]?.errorCode).to.equal("COMPONENT_MANAGER_UNREACHABLE");
    expect(new Set(errors.slice(1).map(({ errorCode }) => errorCode))).to.deep.equal(new Set(["PRECHECK_NOT_RUN"]));
  });

  it("sits out short trouble", async () => {
    await start();
    await cluster.fault({ kind: "SERVICE_UNAVAILABLE", times: 5 });
    expect((await run()).failed).to.deep.equal([]);
  });

  it("says that the credentials are wrong", async () => {
    await start();
    await cluster.fault({ kind: "LOGIN_REFUSED" });
    expect((await run()).errors[0]?.errorCode).to.equal("AUTHENTICATION");
  });

  it("finds a cluster that is managed in another way than planned", async () => {
    await start("BASELINE");
    const { failed, errors } = await run();
    expect(failed).to.include.members([
      "CLUSTER_IMAGE_MANAGED",
      "TARGET_IMAGE_AVAILABLE",
      "NO_DOWNGRADE",
      "CLUSTER_HEALTH",
    ]);
    expect(errors[0]?.errorCode).to.equal("CLUSTER_KIND_CHANGED");
  });

  it("finds an image that the component manager does not have, and leaves no draft", async () => {
    await start();
    const { failed, errors } = await run({ targetVersion: "9.9.9-0.1" });
    expect(failed).to.deep.equal(["TARGET_IMAGE_AVAILABLE"]);
    expect(errors[0]).to.deep.include({ errorCode: "TARGET_IMAGE_INVALID" });
    expect((await cluster.state()).drafts).to.deep.equal([]);
  });

  it("finds hosts that are newer than the target", async () => {
    await start();
    const target = { ...cluster.target, targetVersion: newVersion };
    await succeed(() => cluster.activities().setDesiredImage(target));
    const [host] = (await cluster.state()).hosts;
    await succeed(() =>
      remediateHost(cluster.activities(), {
        ...target,
        host: { host: host?.id ?? "", fqdn: host?.name ?? "" },
        attempts: { maximumAttempts: 1, retryDelay: 0 },
      }),
    );
    const { failed, errors } = await run({ targetVersion });
    expect(failed).to.deep.equal(["NO_DOWNGRADE"]);
    expect(errors).to.have.length(1);
    expect(errors[0]?.context).to.include({ host: "esx-01.example.com", version: newVersion });
  });

  it("finds a host that is away, an operation that runs, and what the health check reports", async () => {
    await start();
    await succeed(() => cluster.activities().setDesiredImage(cluster.target));
    await cluster.fault({ kind: "CHECK_FAILS", host: "esx-02.example.com", issue: "The vSAN is not healthy." });
    const healthy = await run();
    expect(healthy.failed).to.deep.equal(["CLUSTER_HEALTH"]);
    expect(healthy.errors[0]?.message).to.match(/esx-02\.example\.com.*The vSAN is not healthy\./);

    await cluster.repair();
    await cluster.fault({ kind: "HOST_NEVER_RECONNECTS", seconds: 3600 });
    const [host] = (await cluster.state()).hosts;
    const remediation = startActivity(() =>
      remediateHost(cluster.activities(), {
        ...cluster.target,
        host: { host: host?.id ?? "", fqdn: host?.name ?? "" },
        attempts: { maximumAttempts: 1, retryDelay: 0 },
      }),
    );
    await remediation.heartbeat(({ activity }) => /to reconnect/.test(activity));
    remediation.environment.cancel("WORKER_SHUTDOWN");
    await remediation.end;
    const { failed, errors, findings } = await run();
    expect(failed).to.deep.equal([
      "HOSTS_CONNECTED",
      "NO_HOST_IN_MAINTENANCE_MODE",
      "NO_OPERATION_IN_PROGRESS",
      "CLUSTER_HEALTH",
    ]);
    expect(errors.map(({ errorCode }) => errorCode)).to.deep.equal([
      "HOST_NOT_CONNECTED",
      "HOST_IN_MAINTENANCE_MODE",
      "CLUSTER_BUSY",
      "PRECHECK_NOT_RUN",
    ]);

    // A check whose errors are all acknowledged keeps no other from being made, and tells them all the same.
    const busy = findings.filter(({ code }) => code === "CLUSTER_BUSY").map(findingKey);
    expect(busy).to.have.length(1);
    const accepted = await run({ acknowledged: busy });
    expect(accepted.findings.map(({ code }) => code)).to.deep.equal([
      ...["HOST_NOT_CONNECTED", "HOST_IN_MAINTENANCE_MODE", "CLUSTER_BUSY", "HEALTH_CHECK_ERROR"],
    ]);
    const other = busy.map((key) => ({ ...key, subject: "another task" }));
    expect((await run({ acknowledged: other })).findings).to.deep.equal(findings);
  });

  it("tells the warnings of the health check, which fail nothing", async () => {
    await start();
    await cluster.fault({ kind: "EVACUATION_BLOCKED", host: "esx-02.example.com", by: "RUNNING_VMS" });
    const { failed, findings } = await run();
    expect(failed).to.deep.equal([]);
    const [host] = (await cluster.state()).hosts.filter(({ name }) => name === "esx-02.example.com");
    expect(findings).to.have.length(1);
    const [{ message, subject, ...finding }] = findings as [(typeof findings)[0]];
    expect(finding).to.deep.equal({
      severity: "WARNING",
      code: "HEALTH_CHECK_WARNING",
      remediationMessage:
        'Resolve what the check "Host readiness" reports for esx-02.example.com, then run the prechecks again.',
      resourceId: cluster.target.cluster.resourceId,
      isAcknowledgeable: true,
      hostId: host?.id,
      hostName: "esx-02.example.com",
    });
    expect(message).to.equal(`esx-02.example.com: ${subject}`);
  });

  it("says of every error which resource and host it is about, and whether it can be acknowledged", async () => {
    await start();
    await cluster.fault({ kind: "CHECK_FAILS", host: "esx-02.example.com", issue: "The vSAN is not healthy." });
    const { errors, findings } = await run({ targetVersion: "9.9.9-0.1" });
    const told = findings.map(({ severity, code, isAcknowledgeable }) => [severity, code, isAcknowledgeable]);
    expect(told).to.deep.equal([
      ["ERROR", "TARGET_IMAGE_INVALID", false],
      ["ERROR", "HEALTH_CHECK_ERROR", true],
    ]);
    expect(findings.map(({ message }) => message)).to.deep.equal(errors.map(({ message }) => message));
    expect(findings.every(({ resourceId }) => resourceId === cluster.target.cluster.resourceId)).to.equal(true);
    expect(findings.at(-1)?.subject).to.equal("Host readiness: The vSAN is not healthy.");
  });

  it("skips the draft where the desired image is the target already", async () => {
    await start();
    await cluster.fault({ kind: "SERVICE_UNAVAILABLE", path: "/drafts" });
    const { failed } = await run({ targetVersion: oldVersion }, { outage: 20 });
    expect(failed).to.deep.equal([]);
  });

  it("is run again where its worker shuts down", async () => {
    await start();
    await cluster.fault({ kind: "SERVICE_UNAVAILABLE", path: "action=check" });
    const checking = startActivity<ResourcePrechecks, ResourcePrechecks>(prechecks());
    await checking.heartbeat(({ stages }) => stages.length > 0);
    checking.environment.cancel("WORKER_SHUTDOWN");
    expect(failureOf(await checking.end)).to.include({ type: "WORKER_SHUTDOWN", nonRetryable: true });
    expect((await cluster.state()).drafts).to.deep.equal([]);
  });

  it("fails for good where the component manager is not in the inventory", async () => {
    await start();
    const unknown = { ...cluster.target.cluster, componentManagerId: "vc-99" };
    const failure = failureOf(await runActivity(prechecks({ cluster: unknown })));
    expect(failure).to.include({ type: "COMPONENT_MANAGER_UNKNOWN", nonRetryable: true });
  });
});
