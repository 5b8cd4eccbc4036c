import { expect } from "chai";
import { isDesired, isJudgedBy, softwareSpecOf } from "../../../activities/clusters/image/target-image";
import type { ClusterTarget } from "../../../activities/contract";
import type { ClusterImage } from "../../../src/domain/plan/upgrade-plan";
import {
  depotAddOn,
  depotDriver,
  depotFirmware,
  failureOf,
  remediateHost,
  runActivity,
  simulateCluster,
  type SimulatedCluster,
  succeed,
  targetVersion,
} from "./simulated-cluster";

const image: ClusterImage = {
  name: "PowerEdge with firmware",
  addOn: depotAddOn,
  components: { [depotDriver.name]: depotDriver.version },
  hardwareSupport: [depotFirmware],
};

describe("an image with add-on, components and firmware", () => {
  const target = { targetVersion, image };
  const desired = {
    base_image: { version: targetVersion },
    add_on: depotAddOn,
    components: { bnxt: { version: "234.0-1" } },
    hardware_support: { packages: { "com.dell.hsm": { pkg: "PowerEdge-R760", version: "26.01" } } },
  };

  it("is imported as the specification that the product exports", () => {
    expect(softwareSpecOf(target)).to.deep.equal({ ...desired, components: { bnxt: "234.0-1" } });
    expect(softwareSpecOf({ targetVersion, image: { name: "x", hardwareSupport: [] } })).to.deep.equal({
      base_image: { version: targetVersion },
    });
  });

  it("is desired only where every part is, and no other", () => {
    expect(isDesired(desired, target)).to.equal(true);
    const others = [
      { ...desired, base_image: { version: "9.0.0-0.1" } },
      { ...desired, add_on: { ...depotAddOn, version: "1" } },
      { base_image: desired.base_image },
      { ...desired, components: { ...desired.components, nvme: { version: "1" } } },
      { ...desired, components: {} },
      { ...desired, hardware_support: { packages: {} } },
    ];
    for (const other of others) expect(isDesired(other, target), JSON.stringify(other)).to.equal(false);
    for (const other of others.slice(1)) expect(isDesired(other, { targetVersion })).to.equal(true);
  });

  it("takes no host for judged by it that was compared with another image", () => {
    const judged = {
      status: "COMPLIANT",
      base_image: { current: desired.base_image, target: desired.base_image },
      add_on: { target: depotAddOn },
      components: {
        bnxt: { target: { version: "234.0-1" } },
        esx: { target: { version: "9" }, target_source: "BASE_IMAGE" },
      },
      hardware_support: { "com.dell.hsm": { target: { pkg: "PowerEdge-R760", version: "26.01" } } },
    };
    expect(isJudgedBy(judged, target)).to.equal(true);
    expect(isJudgedBy({ ...judged, add_on: {} }, target)).to.equal(false);
    expect(isJudgedBy({ ...judged, hardware_support: {} }, target)).to.equal(false);
    const more = { ...judged.components, nvme: { target: { version: "1" }, target_source: "USER" } };
    expect(isJudgedBy({ ...judged, components: more }, target)).to.equal(false);
    expect(isJudgedBy({ ...judged, components: more }, { targetVersion })).to.equal(true);
  });
});

describe("the Activities of a cluster whose image has more than a base image", function () {
  this.timeout(20_000);
  let cluster: SimulatedCluster;
  let target: ClusterTarget;
  beforeEach(async () => {
    cluster = await simulateCluster();
    await cluster.hostSeconds(0.05);
    target = { ...cluster.target, image };
  });
  afterEach(() => cluster.close());

  const commits = async () => (await cluster.steps()).filter((step) => step === "IMAGE_COMMITTED").length;
  const setImage = (other: ClusterTarget = target) => {
    const activities = cluster.activities();
    return () => activities.setDesiredImage(other);
  };
  async function upgradeFirstHost(of: ClusterTarget) {
    const [host] = (await cluster.state()).hosts;
    const input = {
      ...of,
      host: { host: host?.id ?? "", fqdn: host?.name ?? "" },
      attempts: { maximumAttempts: 1, retryDelay: 0 },
    };
    return succeed(() => remediateHost(cluster.activities(), input));
  }

  it("import, validate and commit it, once", async () => {
    const result = await succeed(setImage());
    const { desiredImage, drafts } = await cluster.state();
    expect(desiredImage).to.deep.equal({
      version: targetVersion,
      commit: result.commit,
      extras: {
        addOn: depotAddOn,
        components: image.components,
        hardwareSupport: { "com.dell.hsm": { pkg: "PowerEdge-R760", version: "26.01" } },
      },
    });
    expect([result.changed, drafts]).to.deep.equal([true, []]);
    expect(await succeed(setImage())).to.deep.equal({ changed: false, commit: result.commit });
    expect(await commits()).to.equal(1);
  });

  it("commit once where answers are lost on the way", async () => {
    for (const path of ["import-software-spec", "action=validate", "action=commit"])
      await cluster.fault({ kind: "CONNECTION_DROPPED", method: "POST", path, times: 1, after: true });
    expect(await succeed(setImage())).to.include({ changed: true });
    expect(await commits()).to.equal(1);
  });

  it("upgrade a host that has the base image alone, and know it afterwards", async () => {
    await succeed(setImage(cluster.target));
    await upgradeFirstHost(cluster.target);
    const atTarget = async (of: ClusterTarget) =>
      (await succeed(() => cluster.activities().readClusterHosts(of))).map((host) => host.atTarget);
    expect(await atTarget(cluster.target)).to.deep.equal([true, false]);
    expect(await atTarget(target)).to.deep.equal([false, false]);
    await succeed(setImage());
    expect(await upgradeFirstHost(target)).to.include({ outcome: "UPGRADED", version: targetVersion });
    expect(await atTarget(target)).to.deep.equal([true, false]);
    expect(await upgradeFirstHost(target)).to.include({ outcome: "ALREADY_AT_TARGET" });
  });

  it("keep the add-on of a cluster when only the base image is changed", async () => {
    await succeed(setImage({ ...target, targetVersion: "9.0.0-0.24755229" }));
    await succeed(setImage(cluster.target));
    const { desiredImage } = await cluster.state();
    expect(desiredImage.version).to.equal(targetVersion);
    expect(desiredImage.extras).to.deep.include({ addOn: depotAddOn });
  });

  it("apply no image whose add-on somebody has changed meanwhile", async () => {
    await succeed(setImage());
    await succeed(setImage({ ...target, image: { name: "x", hardwareSupport: [] } }));
    const [host] = (await cluster.state()).hosts;
    const input = {
      ...target,
      host: { host: host?.id ?? "", fqdn: "esx-01" },
      attempts: { maximumAttempts: 1, retryDelay: 0 },
    };
    const failure = failureOf(await runActivity(() => remediateHost(cluster.activities(), input)));
    expect(failure).to.include({ type: "DESIRED_IMAGE_CHANGED", nonRetryable: true });
    expect(failure.told.error.message).to.match(
      /with other add-ons or components and no longer .* with PowerEdge with firmware/,
    );
  });

  it("find in the prechecks what the depot does not have, and what would be a downgrade", async () => {
    const failed = async (of: ClusterTarget) => {
      const { stages } = await succeed(() => cluster.activities().runClusterPrechecks(of));
      return stages.flatMap(({ type, errors = [] }) => errors.map(({ message }) => `${type}: ${message}`));
    };
    expect(await failed(target)).to.deep.equal([]);
    const unknown = { ...image, addOn: { name: "HPE", version: "1" } };
    expect(await failed({ ...target, image: unknown })).to.deep.equal([
      `TARGET_IMAGE_AVAILABLE: vc-01 rejected image ${targetVersion} with ${image.name} for cluster domain-c8: The depot has no add-on HPE 1.`,
    ]);
    await succeed(setImage());
    await upgradeFirstHost(target);
    const older = { ...image, components: { bnxt: "233.0-1" } };
    expect(await failed({ ...target, image: older })).to.deep.equal([
      "NO_DOWNGRADE: Host esx-01.example.com has bnxt 234.0-1, which is newer than 233.0-1.",
    ]);
    expect((await cluster.state()).drafts).to.deep.equal([]);
  });
});
