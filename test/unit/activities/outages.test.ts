import { once } from "node:events";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import type { ActivityLimits } from "../../../activities/activity-limits";
import { activityRetryPolicy } from "../../../activities/activity-run";
import { vim25HostMaintenance } from "../../../activities/clusters/baseline/vim25-host-maintenance";
import { CredentialTries, triesOf } from "../../../activities/drivers/component-manager-access";
import { DriverError } from "../../../activities/drivers/driver-error";
import { HttpConnection } from "../../../activities/drivers/http-connection";
import { withLease } from "../../../activities/drivers/lease";
import { errorOfTransport } from "../../../activities/drivers/vapi/classify-error";
import { createVim25Client } from "../../../activities/drivers/vim25/vim25-client";
import { createRetryPolicy, type RetryPolicy } from "../../../activities/retry-policy";
import type { WorkStage } from "../../../activities/work-stage";
import { testAuthority } from "../../support/certificates";
import { ManualClock } from "../../support/manual-clock";
import { soapFault } from "../../support/soap-fault";
import {
  failureOf,
  quickLimits,
  remediateHost,
  runActivity,
  simulateCluster,
  type SimulatedCluster,
} from "./simulated-cluster";

const host = { host: "host-11", fqdn: "esx-01.example.com" };
const attempts = { maximumAttempts: 1, retryDelay: 0 };
/** What managers answer while they are unwell; each comes three times. */
const ofImages: readonly Readonly<Record<string, unknown>>[] = [
  { method: "GET", path: "/api/cis/tasks", status: 500 },
  { path: "/api/esx", status: 404, body: "<html><body>Not found</body></html>" },
  { method: "GET", path: "/api/", status: 200, contentType: "text/plain", body: "Service is starting." },
  { path: "action=apply", status: 500, contentType: "application/json", body: '{"error_type":"ERROR","messages":[]}' },
  { method: "GET", path: "/api/", status: 403 },
];

describe("a component manager that is unwell for moments", function () {
  this.timeout(30_000);
  let cluster: SimulatedCluster;
  afterEach(() => cluster.close());

  for (const fault of ofImages)
    it(`ends no host of an image-managed cluster: ${JSON.stringify(fault)}`, async () => {
      cluster = await simulateCluster();
      const activities = cluster.activities();
      await runActivity(() => activities.setDesiredImage(cluster.target));
      await cluster.fault({ kind: "ANSWERS", times: 3, ...fault });
      const input = { ...cluster.target, host, attempts };
      const { result, error } = await runActivity(() => remediateHost(activities, input));
      expect(error).to.equal(undefined);
      expect(result).to.include({ outcome: "UPGRADED" });
      expect(await cluster.isUsedUp("ANSWERS")).to.equal(true);
    });

  for (const type of ["RuntimeFault", "NotAuthenticated", "InvalidLogin", "HostCommunication"])
    it(`ends no host of a baseline-managed cluster: ${type}`, async () => {
      cluster = await simulateCluster("BASELINE");
      const activities = cluster.activities();
      const target = { ...cluster.target, kind: "BASELINE" as const, options: {} };
      const { result: before } = await runActivity(() => activities.readHostBefore({ ...target, host }));
      const fault = { path: "/sdk/RetrievePropertiesEx", status: 500, contentType: "text/xml", body: soapFault(type) };
      await cluster.fault({ kind: "ANSWERS", times: 3, ...fault });
      const input = { ...target, host, attempts, ...(before && { before }) };
      const { result, error } = await runActivity(() => remediateHost(activities, input));
      expect(error).to.equal(undefined);
      expect(result).to.include({ outcome: "UPGRADED" });
    });

  describe("and loses touch with a host", () => {
    const unheard = "An error occurred while communicating with the remote host.";

    async function remediateBaseline(limits: Partial<ActivityLimits> = {}) {
      const activities = cluster.activities(limits);
      const options = { preRemediationPowerAction: "POWER_OFF_VMS" as const };
      const target = { ...cluster.target, kind: "BASELINE" as const, options };
      const { result: before } = await runActivity(() => activities.readHostBefore({ ...target, host }));
      return runActivity(() => remediateHost(activities, { ...target, host, attempts, ...(before && { before }) }));
    }
    const running = async () => (await cluster.state()).hosts.reduce((sum, { poweredOnVms }) => sum + poweredOnVms, 0);

    for (const fault of [{ times: 1 }, { times: 6 }, { times: 12 }, { times: 3, seconds: 20 }])
      it(`repeats what tasks have not done, and uses up no attempt: ${JSON.stringify(fault)}`, async () => {
        cluster = await simulateCluster("BASELINE");
        await cluster.fault({ kind: "HOST_COMMUNICATION_FAILS", host: host.host, ...fault });
        const before = await running();
        const { result, error } = await remediateBaseline();
        expect(error).to.equal(undefined);
        expect(result).to.include({ outcome: "UPGRADED" });
        expect(await cluster.isUsedUp("HOST_COMMUNICATION_FAILS")).to.equal(true);
        expect(await running()).to.equal(before);
      });

    it("ends the attempt with the product's reason where it lasts longer than an outage may", async () => {
      cluster = await simulateCluster("BASELINE");
      await cluster.fault({ kind: "HOST_COMMUNICATION_FAILS", host: host.host });
      const failure = failureOf(await remediateBaseline({ outage: 300 }));
      expect(failure.type).to.equal("HOST_REMEDIATION_FAILED");
      expect(JSON.stringify(failure.told.error)).to.contain(unheard);
    });

    for (const fault of [{ times: 8 }, { times: 2, seconds: 20 }])
      it(`repeats an entry into maintenance mode of an image-managed cluster: ${JSON.stringify(fault)}`, async () => {
        cluster = await simulateCluster("IMAGE");
        await cluster.fault({ kind: "HOST_COMMUNICATION_FAILS", host: host.host, ...fault });
        const limits = { ...quickLimits, clock: cluster.clock };
        const access = { id: "vc-01", url: cluster.url, username: "svc", password: "secret" };
        const lasting = {
          isValid: () => true,
          renew: () => Promise.resolve(),
          follow: () => undefined,
          lost: () => undefined,
        };
        const maintenance = vim25HostMaintenance({ client: createVim25Client(access, limits), limits });
        const { error } = await runActivity(() =>
          withLease(lasting, () => maintenance.enter(host.host, {}, activityRetryPolicy(limits))),
        );
        expect(error).to.equal(undefined);
        expect((await cluster.state()).hosts[0]).to.include({ id: host.host, maintenance: "IN" });
        expect(await cluster.isUsedUp("HOST_COMMUNICATION_FAILS")).to.equal(true);
      });
  });

  it("is told at once in the prechecks", async () => {
    cluster = await simulateCluster();
    await cluster.fault({ kind: "LOGIN_REFUSED" });
    const { result } = await runActivity(() => cluster.activities().runClusterPrechecks(cluster.target));
    expect(result?.stages[0]?.errors?.[0]?.errorCode).to.equal("AUTHENTICATION");
  });

  it("is waited out in prechecks between two products", async () => {
    cluster = await simulateCluster();
    await cluster.fault({ kind: "ANSWERS", path: "/api/esx", status: 404, times: 3 });
    const target = { ...cluster.target, stage: "IN_WORK" as const };
    const { result } = await runActivity(() => cluster.activities().runClusterPrechecks(target));
    expect(result?.stages.map(({ status }) => status)).to.not.include("FAILED");
  });

  for (const [what, faults] of [
    ["404", [{ kind: "LIFECYCLE_STARTS_LATE", seconds: 25, status: 404 }]],
    [
      "500",
      [{ kind: "ANSWERS", path: "/api/esx", status: 500, contentType: "application/json", body: "{}", seconds: 45 }],
    ],
  ] as const)
    it(`is waited out where its lifecycle service answers ${what} for 25 s after the server's own upgrade`, async () => {
      const clock = new ManualClock();
      cluster = await simulateCluster("IMAGE", {}, clock);
      const activities = cluster.activities();
      await runActivity(() => activities.setDesiredImage(cluster.target));
      for (const fault of faults) await cluster.fault(fault);
      await cluster.fault({ kind: "MANAGER_RESTARTS", seconds: 20 });
      const began = clock.now();
      const checked = await runActivity(() => activities.runClusterPrechecks({ ...cluster.target, stage: "IN_WORK" }));
      expect(checked.result?.stages.map(({ status }) => status)).to.not.include("FAILED");
      expect(clock.now() - began).to.be.within(25_000, 90_000);
      const upgraded = await runActivity(() => remediateHost(activities, { ...cluster.target, host, attempts }));
      expect(upgraded.result).to.include({ outcome: "UPGRADED" });
    });

  it("still refuses a license agreement at once", async () => {
    cluster = await simulateCluster();
    const activities = cluster.activities();
    await runActivity(() => activities.setDesiredImage(cluster.target));
    await cluster.fault({ kind: "EULA_NOT_ACCEPTED", cluster: "domain-c8" });
    const input = { ...cluster.target, host, attempts };
    expect(failureOf(await runActivity(() => remediateHost(activities, input))).type).to.equal("EULA_NOT_ACCEPTED");
  });

  it("uses up no attempt where its restart ends the remediation", async () => {
    cluster = await simulateCluster();
    const activities = cluster.activities();
    await runActivity(() => activities.setDesiredImage(cluster.target));
    await cluster.hostSeconds(1);
    const input = { ...cluster.target, host, attempts };
    const ended = runActivity(() => remediateHost(activities, input));
    for (;;) if ((await cluster.state()).runningTasks.some(({ kind }) => kind === "apply")) break;
    await cluster.fault({ kind: "MANAGER_RESTARTS", seconds: 0 });
    const { result, error } = await ended;
    expect(error).to.equal(undefined);
    expect(result).to.include({ outcome: "UPGRADED" });
  });
});

describe("a component manager whose certificate is not trusted", () => {
  /** How often it is asked, and the code of the error where it is not trusted for so many calls. */
  async function asked(stage: WorkStage, distrusted: number) {
    const server = createServer(await (await testAuthority("nobody's")).issue("manager"), (_, res) => res.end("{}"));
    await once(server.listen(0, "127.0.0.1"), "listening");
    const { port } = server.address() as AddressInfo;
    const quickRetries = { limit: 0, statuses: [] };
    const connection = new HttpConnection(`https://127.0.0.1:${port}`, { callTimeout: 5_000, quickRetries });
    const clock = new ManualClock();
    const bounds = { outage: 60_000, operationBusy: 60_000, poll: { min: 250, max: 5_000 }, clock };
    const policy = createRetryPolicy(bounds, { stage, interruption: () => undefined });
    const call = { changes: false, what: "read the time", method: "GET", path: "", headers: {} } as const;
    let calls = 0;
    const request = () =>
      ++calls > distrusted
        ? Promise.resolve()
        : connection.request(call).then(
            () => undefined,
            (error: unknown) => {
              throw errorOfTransport({ managerId: "vc-01", what: call.what }, error);
            },
          );
    const code = await policy.retry(request).then(
      () => undefined,
      (error: unknown) => (error as DriverError).code,
    );
    await connection.close();
    server.close();
    return { calls, code };
  }

  it("is refused at once at the first contact", async () => {
    expect(await asked("FIRST_CONTACT", 2)).to.deep.equal({ calls: 1, code: "COMPONENT_MANAGER_CERTIFICATE" });
  });

  it("is waited for in work, where it was trusted before", async () => {
    expect(await asked("IN_WORK", 3)).to.deep.equal({ calls: 4, code: undefined });
  });

  it("is named where that lasts longer than an outage may", async () => {
    const { calls, code } = await asked("IN_WORK", Infinity);
    expect(code).to.equal("COMPONENT_MANAGER_CERTIFICATE");
    expect(calls).to.be.above(5);
  });
});

describe("credentials that are refused in work", () => {
  const minute = 60_000;
  const refusal = (tries: CredentialTries) =>
    new DriverError({
      kind: "permanent",
      code: "AUTHENTICATION",
      message: "No.",
      remediation: "Look.",
      inWork: "CREDENTIALS",
      tries,
    });

  type Try = (policy: RetryPolicy, request: () => Promise<never>, clock: ManualClock) => Promise<unknown>;
  const byRetry: Try = (policy, request) => policy.retry(request).catch(() => undefined);
  /** As whoever looks before each request does. */
  const oneByOne: Try = async (policy, request, clock) => {
    for (const until = clock.now() + 60 * minute; clock.now() < until; await policy.pause(50))
      await policy.once(request).catch(() => undefined);
  };

  async function triesAt(stage: WorkStage, callers: number, tryAt = byRetry): Promise<number> {
    const clock = new ManualClock();
    const tries = new CredentialTries();
    const bounds = { outage: 60 * minute, operationBusy: 30 * minute, poll: { min: 250, max: 5_000 }, clock };
    let calls = 0;
    const request = () => (calls++, Promise.reject(refusal(tries)));
    const policies = Array.from({ length: callers }, () =>
      createRetryPolicy(bounds, { stage, interruption: () => undefined }),
    );
    await Promise.all(policies.map((policy) => tryAt(policy, request, clock)));
    return calls;
  }

  it("are tried once at the first contact, and a few times in an hour otherwise", async () => {
    expect(await triesAt("FIRST_CONTACT", 1)).to.equal(1);
    expect(await triesAt("IN_WORK", 1)).to.be.within(5, 15);
    expect(await triesAt("IN_WORK", 1, oneByOne)).to.be.within(5, 15);
  });

  it("are counted by account, whichever interface refuses them, and anew where the password is another", () => {
    const account = { id: "vc-01", url: "https://vc-01.example.com", username: "svc", password: "secret" };
    expect(triesOf({ ...account, id: "the same by another id" })).to.equal(triesOf(account));
    for (const other of [{ password: "new" }, { username: "other" }, { url: "https://vc-02.example.com" }])
      expect(triesOf({ ...account, ...other })).to.not.equal(triesOf(account));
  });

  it("are tried by all callers together hardly more often than by one", async () => {
    expect(await triesAt("IN_WORK", 30)).to.be.below(30 + 15);
  });
});
