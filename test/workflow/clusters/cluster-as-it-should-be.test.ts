import { ApplicationFailure } from "@temporalio/common";
import { expect } from "chai";
import type { HostToRestore } from "../../../activities/contract";
import type { ClusterHost, OutOfService } from "../../../src/domain/task/host-remediation";
import {
  activityFailure,
  FakeActivities,
  Gate,
  hostFailure,
  hostProgress,
  type OneHostInput,
  sampleError,
  sampleHosts,
  upgraded,
} from "../../support/fake-activities";
import { useBench } from "../../support/upgrade-bench";

const [first, second, joining] = sampleHosts(3) as [ClusterHost, ClusterHost, ClusterHost];

describe("A cluster that ends well", function () {
  this.timeout(60_000);
  const bench = useBench("TIME_SKIPPING");

  /** Activities of a cluster whose hosts are others at every read; the last list stays. */
  const reading = (...lists: readonly (readonly ClusterHost[])[]) =>
    new FakeActivities({ readClusterHosts: oneAfterAnother(lists) });
  function oneAfterAnother(lists: readonly (readonly ClusterHost[])[]): () => Promise<ClusterHost[]> {
    let reads = 0;
    return () => Promise.resolve([...(lists[Math.min(reads++, lists.length - 1)] ?? [])]);
  }
  const remediations = ({ calls }: FakeActivities) =>
    calls.filter((call) => call.startsWith("remediate ")).map((call) => call.split("/")[1]);

  it("has its hosts looked at once more before its settings are restored", async () => {
    const upgrade = await bench().upgrade({}, reading([first, second]));
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    const calls = upgrade.fake.calls.map((call) => call.split(" ")[0]);
    expect(calls.slice(-2)).to.deep.equal(["readHosts", "restorePolicy"]);
  });

  it("upgrades a host that has joined meanwhile in one more round", async () => {
    const upgrade = await bench().upgrade({}, reading([first, second], [first, second, joining]));
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    expect(remediations(upgrade.fake)).to.deep.equal(["host-1", "host-2", "host-3"]);
    expect(await upgrade.hosts()).to.deep.equal(["SUCCESSFUL", "SUCCESSFUL", "SUCCESSFUL"]);
  });

  it("fails where a host that has joined cannot be upgraded", async () => {
    const lists = [[first], [first, joining]];
    const fake = new FakeActivities({
      readClusterHosts: oneAfterAnother(lists),
      remediateHost: async (input) => {
        if (input.host.host === joining.host) throw hostFailure(input);
        return upgraded(input);
      },
    });
    const upgrade = await bench().upgrade({}, fake);
    await upgrade.untilStatuses("Failed / COMPLETED_WITH_FAILURE");
    expect(await upgrade.hosts()).to.deep.equal(["SUCCESSFUL", "FAILED"]);
  });

  it("ends with a warning where hosts join faster than they are upgraded", async () => {
    let hosts = 1;
    const fake = new FakeActivities({ readClusterHosts: () => Promise.resolve(sampleHosts(hosts++)) });
    const upgrade = await bench().upgrade({}, fake);
    expect(await upgrade.end()).to.equal("SUCCESSFUL_WITH_WARNING");
    expect(remediations(fake)).to.deep.equal(["host-1", "host-2", "host-3", "host-4"]);
    const [error] = (await upgrade.task()).errors ?? [];
    expect(error?.errorCode).to.equal("HOST_NOT_AT_TARGET");
  });

  const leftovers: readonly [what: string, code: string, change: Partial<ClusterHost>][] = [
    ["a host is in maintenance mode", "HOST_LEFT_IN_MAINTENANCE_MODE", { inMaintenanceMode: true }],
    ["a host is disconnected", "HOST_DISCONNECTED", { connection: "not_responding" }],
  ];
  for (const [what, code, change] of leftovers) {
    it(`ends with a warning where ${what} in the end`, async () => {
      const upgrade = await bench().upgrade({}, reading([first, second], [first, { ...second, ...change }]));
      expect(await upgrade.end()).to.equal("SUCCESSFUL_WITH_WARNING");
      expect(await upgrade.statuses()).to.equal("COMPLETED_WITH_WARNING / COMPLETED_WITH_SUCCESS");
      const [error] = (await upgrade.task()).errors ?? [];
      expect(error?.errorCode).to.equal(code);
      expect(error?.message).to.include(second.fqdn);
    });

    it(`has nothing to tell where ${what} at the first look only`, async () => {
      const lists = [
        [first, second],
        [first, { ...second, ...change }],
        [first, second],
      ] as const;
      const upgrade = await bench().upgrade({}, reading(...lists));
      expect(await upgrade.end()).to.equal("SUCCESSFUL");
    });
  }

  it("does not take a host for left in maintenance mode that was in it before", async () => {
    const held = { ...second, inMaintenanceMode: true } as const;
    const fake = reading([first, held]);
    const upgrade = await bench().upgrade({}, fake);
    fake.atTarget.add(`${upgrade.resourceId()}/${held.host}`);
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
  });

  it("leaves out a host that has left it before its turn, and upgrades the others", async () => {
    const lists = [
      [first, second, joining],
      [second, joining],
    ];
    const fake = new FakeActivities({
      readClusterHosts: oneAfterAnother(lists),
      remediateHost: (input) =>
        input.host.host === first.host
          ? Promise.reject(hostFailure(input, input.attempts.maximumAttempts, "HOST_LEFT_CLUSTER"))
          : Promise.resolve(upgraded(input)),
    });
    const upgrade = await bench().upgrade({}, fake);
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    const [left, ...others] = (await upgrade.subTask()).subTasks ?? [];
    expect(left).to.include({ status: "NOT_APPLICABLE", reasonCode: "HOST_LEFT_CLUSTER" });
    expect(others.map(({ status }) => status)).to.deep.equal(["SUCCESSFUL", "SUCCESSFUL"]);
  });

  it("does not take a failed host for gone that it does not list at the first look only", async () => {
    const whole = sampleHosts(3);
    const lists = [whole, whole.filter(({ host }) => host !== second.host), whole];
    const fake = new FakeActivities({
      readClusterHosts: oneAfterAnother(lists),
      remediateHost: (input) =>
        input.host.host === second.host
          ? Promise.reject(hostFailure(input, input.attempts.maximumAttempts, "HOST_NOT_RECONNECTED"))
          : Promise.resolve(upgraded(input)),
    });
    const upgrade = await bench().upgrade({}, fake);
    expect(await upgrade.end()).to.equal("FAILED");
    expect(await upgrade.hosts()).to.deep.equal(["SUCCESSFUL", "FAILED", "NOT_APPLICABLE"]);
  });

  it("leaves out a host that leaves it while it is upgraded", async () => {
    const left = new Set<string>();
    const fake = new FakeActivities({
      readClusterHosts: () => Promise.resolve(sampleHosts(3).filter(({ host }) => !left.has(host))),
      remediateHost: async (input) => {
        if (input.host.host !== second.host) return upgraded(input);
        left.add(second.host);
        throw hostFailure(input, input.attempts.maximumAttempts, "HOST_NOT_RECONNECTED");
      },
    });
    const upgrade = await bench().upgrade({}, fake);
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    const hosts = (await upgrade.subTask()).subTasks ?? [];
    expect(hosts.map(({ reasonCode }) => reasonCode)).to.deep.equal([undefined, "HOST_LEFT_CLUSTER", undefined]);
  });
});

describe("A cluster that does not end well", function () {
  this.timeout(60_000);
  const bench = useBench("TIME_SKIPPING");

  const inside = { inMaintenanceMode: true } as const;
  const withoutVms = { stoppedVms: ["web-1"] } as const;

  /** A failure of a host that the attempt has left out of service in this way. */
  function failureLeaving(input: OneHostInput, left: OutOfService) {
    const error = sampleError("HOST_REMEDIATION_FAILED", `Host ${input.host.fqdn} failed`);
    const places = Object.fromEntries(Object.keys(left).map((how) => [how, [0]]));
    const progress = { ...hostProgress(input, 1, error), ...places };
    return ApplicationFailure.create({
      message: error.message,
      type: error.errorCode ?? "",
      nonRetryable: true,
      details: [{ error, progress }],
    });
  }

  /** A cluster of two hosts, of which the second fails and is left so; `standing`: how it is at each look after that. */
  function failing(left: OutOfService, ...standing: readonly Partial<ClusterHost>[]) {
    let looks = -1;
    return new FakeActivities({
      readClusterHosts: () => {
        const changed = looks < 0 ? {} : (standing[Math.min(looks, standing.length - 1)] ?? {});
        if (looks >= 0) looks++;
        return Promise.resolve([first, { ...second, ...changed }]);
      },
      remediateHost: async (input) => {
        if (input.host.host === first.host) return upgraded(input);
        looks = 0;
        throw failureLeaving(input, left);
      },
    });
  }
  const restored = ({ calls }: FakeActivities) => calls.filter((call) => call.startsWith("restoreHosts "));

  it("has its hosts looked at once after its settings are restored, where nothing is left", async () => {
    const upgrade = await bench().upgrade({}, failing({}, {}));
    expect(await upgrade.end()).to.equal("FAILED");
    const calls = upgrade.fake.calls.map((call) => call.split(" ")[0]);
    expect(calls.slice(-2)).to.deep.equal(["restorePolicy", "readHosts"]);
    expect((await upgrade.subTask()).errors?.[0]?.nestedErrors).to.equal(undefined);
  });

  it("has a host taken out of maintenance mode that its attempt has left in it", async () => {
    const upgrade = await bench().upgrade({}, failing(inside, inside, inside, {}));
    expect(await upgrade.end()).to.equal("FAILED");
    expect(restored(upgrade.fake)).to.deep.equal([`restoreHosts ${upgrade.resourceId()}/host-2`]);
    const { errors, subTasks = [] } = await upgrade.subTask();
    expect(errors?.[0]).to.include({ errorCode: "HOST_REMEDIATION_FAILED" }).and.not.to.have.property("nestedErrors");
    expect(subTasks[1]?.description).to.match(/back in service/);
  });

  it("names a host that cannot be taken out of maintenance mode", async () => {
    const upgrade = await bench().upgrade({}, failing(inside, inside));
    expect(await upgrade.end()).to.equal("FAILED");
    expect(restored(upgrade.fake)).to.have.length(1);
    const [error] = (await upgrade.subTask()).errors ?? [];
    expect(error?.errorCode).to.equal("HOST_REMEDIATION_FAILED");
    expect(error?.nestedErrors?.map(({ errorCode }) => errorCode)).to.deep.equal(["HOST_LEFT_IN_MAINTENANCE_MODE"]);
    expect((await upgrade.task()).errors?.[0]?.message).to.include(`Host ${second.fqdn} is in maintenance mode`);
  });

  it("leaves a host in maintenance mode that an operator has put there, and names it", async () => {
    const upgrade = await bench().upgrade({}, failing({}, inside));
    expect(await upgrade.end()).to.equal("FAILED");
    expect(restored(upgrade.fake)).to.deep.equal([]);
    const [error] = (await upgrade.subTask()).errors ?? [];
    expect(error?.nestedErrors?.[0]?.errorCode).to.equal("HOST_LEFT_IN_MAINTENANCE_MODE");
  });

  it("does not touch a host that has left maintenance mode before the second look", async () => {
    const upgrade = await bench().upgrade({}, failing(inside, inside, {}));
    expect(await upgrade.end()).to.equal("FAILED");
    expect(restored(upgrade.fake)).to.deep.equal([]);
    expect((await upgrade.subTask()).errors?.[0]?.nestedErrors).to.equal(undefined);
  });

  it("does not judge hosts that it has not begun", async () => {
    const fake = new FakeActivities({
      readClusterHosts: () => Promise.resolve([first, { ...second, connection: "disconnected" }]),
      remediateHost: (input) => Promise.reject(failureLeaving(input, {})),
    });
    const upgrade = await bench().upgrade({}, fake);
    expect(await upgrade.end()).to.equal("FAILED");
    expect((await upgrade.subTask()).errors?.[0]?.nestedErrors).to.equal(undefined);
  });

  it("has virtual machines started that its attempt has left switched off, those that ran on the host", async () => {
    const asked: (readonly HostToRestore[])[] = [];
    const at = "2026-11-01T00:00:00.000Z";
    const asFound = { at, inMaintenanceMode: false, rebootRequired: false, atTarget: false };
    let isBegun = false;
    const fake = new FakeActivities({
      readClusterHosts: () => Promise.resolve([isBegun && asked.length === 0 ? { ...first, ...withoutVms } : first]),
      readHostBefore: () => Promise.resolve({ ...asFound, runningVms: ["vm-1"] }),
      remediateHost: (input) => {
        isBegun = true;
        return Promise.reject(failureLeaving(input, { vmsOff: true }));
      },
      restoreHosts: ({ hosts }) => {
        asked.push(hosts);
        return Promise.resolve();
      },
    });
    const upgrade = await bench().upgrade({ kinds: ["BASELINE"] }, fake);
    expect(await upgrade.end()).to.equal("FAILED");
    const wanted = { host: first.host, fqdn: first.fqdn, inMaintenanceMode: false, vms: ["vm-1"] };
    expect(asked).to.deep.equal([[wanted]]);
    expect((await upgrade.subTask()).errors?.[0]?.nestedErrors).to.equal(undefined);
  });

  it("is looked at after a cancellation as well, and says what is left", async () => {
    const gate = new Gate();
    let isBegun = false;
    const fake = new FakeActivities({
      readClusterHosts: () => Promise.resolve([{ ...first, ...(isBegun && inside) }, second]),
      remediateHost: async (input) => {
        isBegun = true;
        await gate.pass().catch(() => undefined);
        throw failureLeaving(input, inside);
      },
    });
    const upgrade = await bench().upgrade({}, fake);
    await gate.reached;
    await upgrade.handle.cancel();
    expect(await upgrade.end()).to.equal("CANCELLED");
    expect(restored(fake)).to.have.length(1);
    const [error] = (await upgrade.subTask()).errors ?? [];
    expect(error?.nestedErrors?.map(({ errorCode }) => errorCode)).to.include("HOST_LEFT_IN_MAINTENANCE_MODE");
  });

  it("says so where its hosts cannot be looked at", async () => {
    let isBegun = false;
    const fake = new FakeActivities({
      readClusterHosts: () =>
        isBegun ? Promise.reject(activityFailure("COMPONENT_MANAGER_UNAVAILABLE")) : Promise.resolve([first]),
      remediateHost: (input) => {
        isBegun = true;
        return Promise.reject(failureLeaving(input, {}));
      },
    });
    const upgrade = await bench().upgrade({}, fake);
    expect(await upgrade.end()).to.equal("FAILED");
    const [error] = (await upgrade.subTask()).errors ?? [];
    expect(error?.nestedErrors?.[0]?.errorCode).to.equal("CLUSTER_NOT_VERIFIED");
  });
});
