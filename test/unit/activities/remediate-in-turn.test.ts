import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import type { HostsInTurn, RemediateHostInput } from "../../../activities/contract";
import type { ActivityLimits } from "../../../activities/activity-dependencies";
import { createVlcmClient, type VlcmClient } from "../../../activities/drivers/vlcm/vlcm-client";
import { remediateInTurn } from "../../../activities/hostos/remediate-in-turn";
import { toTimestamp } from "../../../src/domain/timestamp";
import { eventually } from "../../support/eventually";
import {
  failureOf,
  quickLimits,
  runActivity,
  simulateCluster,
  startActivity,
  succeed,
  targetVersion,
  type SimulatedCluster,
} from "./simulated-cluster";

describe("remediateHost with hosts that follow", function () {
  this.timeout(20_000);
  let cluster: SimulatedCluster;
  let hosts: RemediateHostInput["host"][];
  let input: RemediateHostInput;

  beforeEach(async () => {
    cluster = await simulateCluster("IMAGE", { hosts: 4 });
    await cluster.hostSeconds(0.01);
    await succeed(() => cluster.activities().setDesiredImage(cluster.target));
    hosts = (await cluster.state()).hosts.map(({ id, name }) => ({ host: id, fqdn: name }));
    const attempts = { maximumAttempts: 2, retryDelay: 0 };
    input = { ...cluster.target, host: host(0), attempts, following: hosts.slice(1), healthGate: true };
  });
  afterEach(() => cluster.close());

  const host = (place: number) => hosts[place] as RemediateHostInput["host"];
  /** Long enough for what takes a moment on a busy machine; what is to take longer takes a minute. */
  const patient = { inTurn: { moment: 3_000, run: 20_000, recent: 20_000 } };
  const remediate = (more: Partial<RemediateHostInput> = {}, limits?: Partial<ActivityLimits>) => {
    const activities = cluster.activities({ ...patient, ...limits });
    return () => activities.remediateHost({ ...input, ...more });
  };
  const followed = ({ followed = [] }: HostsInTurn) => followed.map((result) => result.host);
  const applies = async () => (await cluster.ledger()).filter(({ step }) => step === "APPLY_STARTED");
  const requested = async () => (await applies()).map((entry) => entry.host);
  const ids = (...places: number[]) => places.map((place) => host(place).host);

  it("goes on to all of them while each takes but a moment, each with its stages", async () => {
    const result = await succeed(remediate());
    expect(result).to.include({ host: host(0).host, outcome: "UPGRADED", version: targetVersion });
    expect(followed(result)).to.deep.equal(ids(1, 2, 3));
    expect(result.followed?.every(({ outcome }) => outcome === "UPGRADED")).to.equal(true);
    expect(result.followed?.[2]?.stages.map(({ status }) => status)).to.deep.equal(Array(4).fill("SUCCESSFUL"));
    expect(result).to.not.have.any.keys("begun", "look");
    expect(await requested()).to.deep.equal(ids(0, 1, 2, 3));
  });

  it("begins none after a host that took longer", async () => {
    await cluster.hostSeconds(1.1);
    const limits = { inTurn: { ...patient.inTurn, moment: 1_000 } };
    expect(followed(await succeed(remediate({}, limits)))).to.deep.equal([]);
    expect(await requested()).to.deep.equal(ids(0));
  });

  it("begins none once it has gone on for long enough, though that time passes while the cluster is looked at", async () => {
    const run = 2_000;
    const { inMaintenance } = cluster.maintenance;
    cluster.maintenance.inMaintenance = async (...of) => {
      await pause(run);
      return inMaintenance(...of);
    };
    const result = await succeed(remediate({}, { inTurn: { ...patient.inTurn, moment: 20_000, run } }));
    expect(followed(result)).to.deep.equal([]);
    expect(result.begun).to.equal(undefined);
    expect(await requested()).to.deep.equal(ids(0));
  });

  it("gives a sign of life every two seconds, and not at each step of the hosts that follow", async () => {
    const began = Date.now();
    const { result, heartbeats } = await runActivity(remediate());
    expect(followed(result as HostsInTurn)).to.have.length(3);
    const ofLater = heartbeats.filter((progress) => progress.host !== host(0).host);
    expect(ofLater.length).to.be.at.most(Math.floor((Date.now() - began) / 2_000));
  });

  it("leaves a host that takes longer to its own Activity, which goes on with the same remediation", async () => {
    await cluster.fault({ kind: "HOST_SLOW", host: host(2).fqdn, factor: 500 });
    const result = await succeed(remediate());
    expect(followed(result)).to.deep.equal(ids(1));
    expect(result.begun).to.include({ host: host(2).host, reportedFailures: 0 });
    expect(result.begun?.remoteTask).to.be.a("string");

    const next = await succeed(
      remediate({ host: host(2), following: [], ...(result.begun && { resume: result.begun }) }),
    );
    expect(next).to.include({ host: host(2).host, outcome: "UPGRADED" });
    expect(await requested()).to.deep.equal(ids(0, 1, 2));
  });

  it("leaves a failure to the Activity of its host, where it counts once", async () => {
    await cluster.fault({ kind: "REMEDIATION_FAILS", host: host(1).fqdn, times: 1, message: "The bootbank is full." });
    const result = await succeed(remediate());
    expect(followed(result)).to.deep.equal([]);
    expect(result.begun).to.include({ host: host(1).host, reportedFailures: 0 });

    const { told } = failureOf(
      await runActivity(remediate({ host: host(1), ...(result.begun && { resume: result.begun }) })),
    );
    expect(told.error).to.include({ errorCode: "HOST_REMEDIATION_FAILED" });
    expect(told.progress).to.include({ host: host(1).host, reportedFailures: 1 });
    expect(await requested()).to.deep.equal(ids(0, 1));
  });

  it("fails for its own host alone, and begins no other then", async () => {
    await cluster.fault({ kind: "REMEDIATION_FAILS", host: host(0).fqdn, times: 1 });
    expect(failureOf(await runActivity(remediate())).told.progress).to.include({ host: host(0).host });
    expect(await requested()).to.deep.equal(ids(0));
  });

  it("begins none while the cluster is not healthy, where the rollout policy asks for that", async () => {
    await cluster.put(host(3).host, "IN");
    const result = await succeed(remediate());
    expect(followed(result)).to.deep.equal([]);
    expect(result.look).to.deep.equal({ healthy: false });
    expect(await requested()).to.deep.equal(ids(0));

    const ungated = await succeed(remediate({ host: host(1), following: [host(2)], healthGate: false }));
    expect(followed(ungated)).to.deep.equal(ids(2));
  });

  it("begins none after a host that its remediation has left in maintenance mode", async () => {
    cluster.maintenance.isInMaintenance = async (one) => one === host(1).host;
    const result = await succeed(remediate());
    expect(followed(result)).to.deep.equal(ids(1));
    expect(result.look).to.deep.equal({ healthy: false });
    expect(await requested()).to.deep.equal(ids(0, 1));
  });

  it("begins none where the check of the cluster's health finds something", async () => {
    await cluster.fault({ kind: "CHECK_FAILS", host: host(3).fqdn, issue: "vSAN objects are resyncing" });
    const { look } = await succeed(remediate());
    expect(look).to.deep.equal({ healthy: false });
    expect(await requested()).to.deep.equal(ids(0));
  });

  it("hands over the check of the cluster's health that takes longer", async () => {
    // From here on, until it is over, nothing takes a moment.
    const { inMaintenance } = cluster.maintenance;
    cluster.maintenance.inMaintenance = async (...of) => {
      await cluster.hostSeconds(60);
      return inMaintenance(...of);
    };
    const { look } = await succeed(remediate({}, { inTurn: { ...patient.inTurn, moment: 1_500 } }));
    const { runningTasks } = await cluster.state();
    expect(runningTasks.map(({ id, kind }) => ({ id, kind }))).to.deep.equal([{ id: look?.check, kind: "check" }]);
    expect(look?.healthy).to.equal(false);
  });

  for (const reason of ["CANCELLED", "WORKER_SHUTDOWN"] as const) {
    it(`hands over what it has begun, and begins no more: ${reason}`, async () => {
      await cluster.fault({ kind: "HOST_SLOW", host: host(1).fqdn, factor: 6_000 });
      const run = startActivity(remediate());
      await eventually(requested, (begun) => begun.includes(host(1).host));
      run.environment.cancel(reason);
      const { result } = await run.end;
      expect(result?.begun).to.include({ host: host(1).host });
      expect(result?.begun?.remoteTask).to.be.a("string");
      expect(await requested()).to.deep.equal(ids(0, 1));
    });
  }

  /** The hosts that follow `own`, where the component manager answers some calls otherwise. */
  async function goOn(
    own: HostsInTurn,
    otherwise: (client: VlcmClient) => Partial<VlcmClient>,
    more: Partial<RemediateHostInput> = {},
  ) {
    const access = { id: "vc-01", url: cluster.url, username: "svc", password: "secret" };
    const client = createVlcmClient(access, quickLimits);
    const dependencies = {
      clientOf: () => ({ ...client, ...otherwise(client) }),
      managementOf: () => expect.fail("image-managed clusters need no management interface"),
      maintenanceOf: () => cluster.maintenance,
      limits: { ...quickLimits, ...patient },
      remediate: async () => own,
    };
    const result = await succeed(() => remediateInTurn(dependencies, { ...input, ...more }));
    await client.close();
    return result;
  }

  it("waits for a host that is away for a moment, and sees it come back", async () => {
    const own = await succeed(remediate({ following: [] }));
    let looks = 0;
    const result = await goOn(
      own,
      (client) => ({
        listHosts: async (of) =>
          (await client.listHosts(of)).map((one) =>
            one.host === host(1).host && ++looks === 1 ? { ...one, connection_state: "NOT_RESPONDING" } : one,
          ),
      }),
      { healthGate: false },
    );
    expect(followed(result)).to.deep.equal(ids(1, 2, 3));
    expect(looks).to.be.at.least(2);
  });

  it("asks once what nothing has changed since", async () => {
    const own = await succeed(remediate({ following: [] }));
    const asked = { hosts: 0, compliance: 0, image: 0 };
    const counting = (client: VlcmClient): Partial<VlcmClient> => ({
      listHosts: (of) => {
        asked.hosts += 1;
        return client.listHosts(of);
      },
      readCompliance: (of) => {
        asked.compliance += 1;
        return client.readCompliance(of);
      },
      readDesiredImage: (of) => {
        asked.image += 1;
        return client.readDesiredImage(of);
      },
    });
    const result = await goOn(own, counting);
    expect(followed(result)).to.deep.equal(ids(1, 2, 3));
    // Before the first of them and at the end of each, however often the check and the remediation are looked at meanwhile.
    expect(asked.image).to.equal(1);
    expect(asked.compliance).to.be.at.most(7);
    expect(asked.hosts).to.be.at.most(7);
  });

  describe("after a run that was lost", () => {
    const again = (more: Partial<RemediateHostInput> = {}, limits?: Partial<ActivityLimits>) =>
      remediate({ lostSince: since, ...more }, limits);
    let since: string;

    beforeEach(() => {
      since = toTimestamp(Date.now());
    });

    it("finds what that has done and what it has left running, and repeats nothing", async () => {
      await cluster.fault({ kind: "HOST_SLOW", host: host(2).fqdn, factor: 6_000 });
      const lost = startActivity(remediate());
      const last = await lost.heartbeat((progress) => progress.host === host(0).host);
      await eventually(requested, (begun) => begun.includes(host(2).host));
      const result = await succeed(again({ resume: last }));
      expect(followed(result)).to.deep.equal(ids(1));
      expect(result.begun).to.include({ host: host(2).host, remoteTask: (await applies()).at(-1)?.task });
      expect(await requested()).to.deep.equal(ids(0, 1, 2));
      lost.environment.cancel("WORKER_SHUTDOWN");
      await lost.end;
    });

    it("finds a failure that nobody has been told of", async () => {
      await cluster.fault({ kind: "REMEDIATION_FAILS", host: host(1).fqdn, times: 1 });
      await succeed(remediate());
      const result = await succeed(again());
      expect(followed(result)).to.deep.equal([]);
      const { told } = failureOf(
        await runActivity(remediate({ host: host(1), ...(result.begun && { resume: result.begun }) })),
      );
      expect(told.progress).to.include({ host: host(1).host, reportedFailures: 1 });
      expect(await requested()).to.deep.equal(ids(0, 1));
    });

    const searchAfter = (lost: HostsInTurn, otherwise: (client: VlcmClient) => Partial<VlcmClient>) =>
      goOn(lost, otherwise, { lostSince: since });

    it("hands over a host that was remediated and is not back yet", async () => {
      const lost = await succeed(remediate({ following: [host(1)] }));
      expect(followed(lost)).to.deep.equal(ids(1));
      const result = await searchAfter(lost, (client) => ({
        listHosts: async (of) =>
          (await client.listHosts(of)).map((one) =>
            one.host === host(1).host ? { ...one, connection_state: "NOT_RESPONDING" } : one,
          ),
      }));
      expect(followed(result)).to.deep.equal([]);
      expect(result.begun).to.include({ host: host(1).host, reportedFailures: 0 });
      expect(Date.parse(result.begun?.requestedAt ?? "")).to.be.closeTo(Date.parse(since), 1_000);
    });

    it("has the cluster not scanned for hosts that nobody has begun", async () => {
      const lost = await succeed(remediate({ following: [] }));
      let scans = 0;
      const result = await searchAfter(lost, (client) => ({
        scan: (of) => {
          scans += 1;
          return client.scan(of);
        },
      }));
      expect(result).to.deep.equal({ ...lost, followed: [] });
      expect(scans).to.equal(0);
    });

    it("begins no host that the lost run has not begun", async () => {
      await succeed(remediate({ following: [] }));
      const result = await succeed(again());
      expect(result.outcome).to.equal("UPGRADED");
      expect(followed(result)).to.deep.equal([]);
      expect(result.begun).to.equal(undefined);
      expect(await requested()).to.deep.equal(ids(0));
    });

    it("looks after a cancellation too, because what runs has to be brought to a safe end", async () => {
      await cluster.fault({ kind: "HOST_SLOW", host: host(1).fqdn, factor: 6_000 });
      const lost = await succeed(remediate());
      expect(lost.begun?.host).to.equal(host(1).host);
      const result = await succeed(again({ stop: true }));
      expect(result.begun).to.include({ host: host(1).host, remoteTask: lost.begun?.remoteTask });
    });

    it("takes a host for begun where the component manager does not say that it was not", async () => {
      await succeed(remediate({ following: [] }));
      // Each call takes its time, so that the trouble begins before the first answer about the next host.
      await cluster.fault({ kind: "SLOW", milliseconds: 200 });
      const run = startActivity(again({}, { outage: 50 }));
      await run.heartbeat((progress) => progress.host === host(1).host);
      await cluster.fault({ kind: "SERVICE_UNAVAILABLE" });
      const { result } = await run.end;
      expect(result?.begun?.host).to.equal(host(1).host);
      expect(Date.parse(result?.begun?.requestedAt ?? "")).to.be.closeTo(Date.parse(since), 1_000);
    });
  });
});
