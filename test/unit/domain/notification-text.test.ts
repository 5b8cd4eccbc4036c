import { expect } from "chai";
import { notificationText } from "../../../src/domain/notifications/notification-text";
import { NotificationType, wantedAfter } from "../../../src/domain/notifications/upgrade-notification";
import { sampleNotification } from "../../support/sample-notification";

const facts = (...args: Parameters<typeof sampleNotification>) =>
  Object.fromEntries(notificationText(sampleNotification(...args)).facts.map(({ label, value }) => [label, value]));

describe("notificationText", () => {
  it("says what happened to which upgrade, differently for each type", () => {
    const titles = Object.keys(NotificationType.keys).map(
      (type) => notificationText(sampleNotification(type as NotificationType)).title,
    );
    expect(new Set(titles).size).to.equal(titles.length);
    for (const title of titles) expect(title).to.match(/^[A-Z][a-z ]+: Upgrade Zürich to 9\.0\.2$/);
  });

  it("says how an upgrade succeeded", () => {
    const titles = ["Successful", "COMPLETED_WITH_WARNING", "SKIPPED"].map(
      (taskStatus) => notificationText(sampleNotification("upgrade.successful", { taskStatus })).title.split(":")[0],
    );
    expect(titles).to.deep.equal(["Successful", "Completed with warnings", "Nothing to upgrade"]);
  });

  it("names resources, who did it, when it begins, and until when a decision is wanted", () => {
    expect(
      facts("upgrade.scheduled", {
        resources: [
          { resourceId: "a", name: "fra1" },
          { resourceId: "b", name: "fra2" },
        ],
        resourceCount: 5,
        createdBy: "alice",
        requestedBy: "bob",
        beginsAt: "2026-11-02T02:00:00.000Z",
        decideBy: "2026-11-09T10:00:00.000Z",
      }),
    ).to.deep.equal({
      Resources: "fra1, fra2, 3 more",
      "Requested by": "bob",
      Begins: "2026-11-02 02:00:00 UTC",
      "Decide by": "2026-11-09 10:00:00 UTC",
      "Created by": "alice",
      Time: "2026-11-01 10:00:00 UTC",
      Id: "0d5c6d0e-0000-4000-8000-000000000001",
    });
  });

  it("says what an upgrade waits for since when, and how many hosts have failed", () => {
    const waitingFor = { code: "HEALTH_GATE", message: "Waiting for DRS", since: "2026-11-01T09:00:00Z" };
    expect(facts("upgrade.wait.long", { waitingFor, hosts: { failed: 1, total: 4 } })).to.include({
      "Waiting for": "Waiting for DRS",
      "Waiting since": "2026-11-01 09:00:00 UTC",
      "Failed hosts": "1 of 4",
    });
  });

  it("keeps every text on one line, without control and direction characters", () => {
    const name = "a\r\nBcc: x@example.com\u202e\u0007";
    const text = notificationText(
      sampleNotification("upgrade.paused", { name, requestedBy: name, errors: [{ message: name }] }),
    );
    // eslint-disable-next-line no-control-regex -- control characters are what must not be there
    expect(JSON.stringify(text)).to.not.match(/\\[rnu]|[\u0000-\u001f\u202e]/);
  });

  it("tells three errors with what to do, and how many more there are", () => {
    const errors = ["1", "2", "3", "4", "5"].map((n) => ({
      message: `Host ${n} failed.`,
      remediationMessage: "Retry.",
    }));
    expect(notificationText(sampleNotification("upgrade.failed", { errors })).errors).to.deep.equal([
      "Host 1 failed.",
      "Retry.",
      "Host 2 failed.",
      "Retry.",
      "Host 3 failed.",
      "Retry.",
      "and 2 more",
    ]);
  });
});

describe("wantedAfter", () => {
  const wanted = (type: NotificationType, standing: Partial<Parameters<typeof wantedAfter>[1]> = {}) =>
    wantedAfter(type, { draft: false, retryable: true, ...standing });

  it("is a decision where the upgrade waits for one", () => {
    expect(wanted("upgrade.draft.ready")).to.equal("COMMIT");
    expect(wanted("upgrade.start.missed")).to.equal("COMMIT");
    expect(wanted("upgrade.paused")).to.equal("RESUME");
    expect(wanted("upgrade.prechecks.failed", { draft: true })).to.equal("PRECHECKS");
    expect(wanted("upgrade.prechecks.failed")).to.equal(undefined);
    for (const type of ["upgrade.failed", "upgrade.decision.due"] as const) {
      expect(wanted(type)).to.equal("RETRY_OR_RESOLVE");
      expect(wanted(type, { retryable: false })).to.equal("RESOLVE");
    }
    expect(wanted("upgrade.lost")).to.equal("CHECK_RESOURCES");
  });

  it("is what a long wait waits for, where that is an operator", () => {
    const waits = (code: string) => wanted("upgrade.wait.long", { waitingFor: { code, message: "m" } });
    expect([waits("RESUME"), waits("COMMIT"), waits("HEALTH_GATE")]).to.deep.equal(["RESUME", "COMMIT", undefined]);
  });

  it("is nothing where the upgrade continues by itself or has ended", () => {
    for (const type of ["upgrade.started", "upgrade.scheduled", "upgrade.successful", "upgrade.host.failed"] as const)
      expect(wanted(type)).to.equal(undefined);
  });
});
