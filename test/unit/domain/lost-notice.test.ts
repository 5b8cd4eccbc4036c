import { expect } from "chai";
import type { UpgradeNotification } from "../../../src/domain/notifications/upgrade-notification";
import { lostUpgradeNotification } from "../../../src/domain/task/lost-upgrade";

describe("lostNotice", () => {
  const latest: UpgradeNotification = {
    id: "u-4",
    sequence: 4,
    type: "upgrade.host.failed",
    time: "2026-11-01T00:00:00.000Z",
    data: {
      upgradeId: "u",
      name: "n",
      bundleId: "b",
      status: "INPROGRESS",
      taskStatus: "In Progress",
      errors: [],
      resources: [{ resourceId: "r", name: "fra1" }],
      resourceCount: 1,
      link: "https://upgrades.example.com/#/upgrades/u",
      createdBy: "alice",
      requestedBy: "bob",
      resourceId: "r",
      hosts: { failed: 1, total: 2 },
    },
  };

  it("follows the latest notification, and says of the upgrade what its readers are told", () => {
    const { data, ...rest } = lostUpgradeNotification(latest, "TERMINATED", "2026-11-01T01:00:00.000Z");
    expect(rest).to.deep.equal({
      id: "u-5",
      sequence: 5,
      type: "upgrade.lost",
      time: "2026-11-01T01:00:00.000Z",
    });
    const { errors, ...about } = data;
    expect(about).to.deep.equal({
      upgradeId: "u",
      name: "n",
      bundleId: "b",
      status: "COMPLETED_WITH_FAILURE",
      taskStatus: "Failed",
      wanted: "CHECK_RESOURCES",
      resources: [{ resourceId: "r", name: "fra1" }],
      resourceCount: 1,
      link: "https://upgrades.example.com/#/upgrades/u",
      createdBy: "alice",
    });
    expect(errors).to.have.length(1);
    expect(errors[0]).to.include({ errorCode: "UPGRADE_LOST" });
  });
});
