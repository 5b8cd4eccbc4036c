import { join } from "node:path";
import { expect } from "chai";
import * as E from "fp-ts/Either";
import { readSimulatorConfig } from "../../../src/simulator/config/simulator-config";
import { type RunningSimulator, startSimulator } from "../../../src/simulator/start-simulator";
import { runVendorClient } from "./run-vendor-client";

const root = join(__dirname, "../../..");

// What the scripts see, they see through the vendor's own types, which refuse an answer that lacks a field or has one of
// another type. So this proves of the simulator what its contracts alone do not: rules between fields.
describe("the vendor's own clients against the simulator", function () {
  this.timeout(120_000);
  let simulator: RunningSimulator;

  beforeEach(async () => {
    const config = readSimulatorConfig(join(root, "config/simulator.yaml"));
    if (E.isLeft(config)) throw new Error(config.left.join("\n"));
    simulator = await startSimulator({
      host: "127.0.0.1",
      port: 0,
      hostSeconds: 0.3,
      log: () => undefined,
      config: config.right,
    });
  });
  afterEach(() => simulator.close());

  const seenBy = (script: string, ...args: string[]) => runVendorClient(script, simulator.url, ...args);

  it("lifecycle manager: from login to a remediated host, and what is refused", async () => {
    expect(await seenBy("lifecycle.py")).to.deep.include({
      stranger: "Unauthenticated",
      imageManaged: { "domain-c8": true, "domain-c21": true, "domain-c34": true, "domain-c47": false },
      unknownCluster: "NOT_FOUND",
      failureAction: "RETRY",
      policy: [true, true, null],
      secondDraft: "ALREADY_EXISTS",
      draft: ["9.0.1-0.24957456", true],
      validated: "SUCCEEDED",
      committed: "SUCCEEDED",
      image: "9.0.1-0.24957456",
      scanned: "SUCCEEDED",
      compliance: ["NON_COMPLIANT", 8],
      checked: "OK",
      staged: "SUCCEEDED",
      applied: ["SUCCEEDED", "com.vmware.esx.settings.clusters.software", "apply$task", "OK", ["host-11"]],
      again: "ALREADY_IN_DESIRED_STATE",
      eula: "ERROR",
      failed: ["FAILED", "ERROR", ["The bootbank is full."]],
      busy: "NOT_ALLOWED_IN_CURRENT_STATE",
      cancelled: "FAILED",
      forgotten: "NotFound",
      afterLogout: "Unauthenticated",
    });
  });

  it("appliance: an update, one that fails, a migration, and one that is cancelled", async () => {
    expect(await seenBy("appliance.py")).to.deep.equal({
      version: "9.0.0.0",
      state: "UPDATES_PENDING",
      condition: [["SUCCEEDED"], 364, true, "green"],
      pending: ["9.0.1.0 UPDATE True", "9.0.2.0 UPDATE True"],
      unknownUpdate: "NotFound",
      precheck: [true, null],
      staged: ["9.0.1.0", true],
      second: "InvalidRequest",
      installed: ["9.0.1.0", "UPDATES_PENDING"],
      failedInstallation: "INSTALL_FAILED",
      cancelled: "CANCELED",
      check: "SUCCEEDED",
      migration: "9.0.2.0",
      pauseAndTime: "INVALID_ARGUMENT",
      prepared: ["SUCCEEDED", "BEFORE_SWITCHOVER", "9.0.2.0"],
      migrated: "UPGRADED",
    });
  });

  it("NETVIRT: from the checks to the finalization, with settings, groups and the known codes", async () => {
    expect(await seenBy("coordinator.py", "fra1-nsx01")).to.deep.include({
      versions: ["9.0.0.0.24733065", "9.0.1.0.24952111", "NOT_STARTED"],
      condition: [
        ["/", "/repository"],
        true,
        [true],
        [
          ["mp-cluster", 1, true],
          ["unused", 0, false],
        ],
      ],
      refusedAccount: [403, 403],
      checksAgain: [500, 30953],
      settings: [true, false],
      group: [true, true],
      stale: [412, 604],
      unknownGroup: [404, 600],
      stillInProgress: [500, 30023],
      upgraded: { MP: "SUCCESS", EDGE: "SUCCESS", HOST: "SUCCESS", FINALIZE_UPGRADE: "SUCCESS" },
      units: ["SUCCESS"],
      after: ["9.0.1.0.24952111", "SUCCESS"],
    });
  });

  it("management interface: a host of a baseline-managed cluster, step by step", async () => {
    const depot = "http://depot.example.com/hostos/9.0.1-0.24957456/metadata.zip";
    expect(await seenBy("management.py", depot)).to.deep.include({
      about: "VirtualCenter",
      clusters: { "fra1-prod-cl01": 8, "fra1-prod-cl02": 6, "fra1-mgmt-cl01": 4, "ams1-edge-cl01": 3 },
      host: ["ams1-esx-01.edge.example.com", "connected", "poweredOn", false],
      reconfigured: "success",
      admissionControlNow: false,
      poweredOff: ["success", "poweredOff"],
      poweredOffAgain: "InvalidPowerState",
      poweredOn: ["success", "poweredOn"],
      suspended: ["success", "suspended"],
      room: [2, true, null],
      clock: true,
      certificate: ["good", 365],
      patchOutside: "InvalidState",
      entered: ["success", true],
      enteredAgain: "InvalidState",
      machinesLeft: 0,
      patched: "success",
      rebootRequired: true,
      restarted: "success",
      left: ["success", false],
      build: ["24755229", "24957456"],
      expired: "NotAuthenticated",
    });
  });
});
