import { expect } from "chai";
import type { ClusterHost } from "../../../src/domain/task/host-remediation";
import { FakeActivities, hostFailure, sampleHosts, upgraded } from "../../support/fake-activities";
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
