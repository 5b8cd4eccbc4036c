import { expect } from "chai";
import { eventually } from "../../support/eventually";
import { failedCheck, FakeActivities, Gate, hostFailure, passedCheck, upgraded } from "../../support/fake-activities";
import type { RunningUpgrade } from "../../support/running-upgrade";
import { clusters, sampleBundle } from "../../support/sample-plan";
import { useBench } from "../../support/upgrade-bench";

describe("What the Temporal Web UI shows of an upgrade", function () {
  this.timeout(30_000);
  const bench = useBench("DEV_SERVER");
  const later = () => bench().inTime(86_400_000);

  /** The summaries of all Activities, local ones among them, and timers, without the ids and names that differ from test to test. */
  async function summaries(upgrade: RunningUpgrade, n?: number): Promise<string[]> {
    const events = (await upgrade.events(n)).filter(
      (event) =>
        event.activityTaskScheduledEventAttributes ??
        event.timerStartedEventAttributes ??
        event.markerRecordedEventAttributes?.markerName === "core_local_activity",
    );
    const shown = await Promise.all(events.map((event) => upgrade.summaryOf(event)));
    return shown.map((summary) => String(summary).replaceAll(`${upgrade.resourceId()}-name`, "CLUSTER"));
  }

  it("names bundle, clusters and target in the summary and the details of each Workflow", async () => {
    const upgrade = await bench().upgrade({ draft: true, resources: clusters(2) }, new FakeActivities({}, 1));
    const of = await upgrade.handle.describe();
    expect(await of.staticSummary()).to.equal("Upgrade 2 clusters to 9.0.2 (draft)");
    const details = (await of.staticDetails()) ?? "";
    expect(details).to.contain(sampleBundle.id);
    for (const n of [0, 1])
      expect(details)
        .to.contain(`**${upgrade.resourceId(n)}-name** (${upgrade.resourceId(n)})`)
        .and.to.contain("9.0.2-0.25148076");
    await upgrade.handle.signal("commit");
    await upgrade.end();
    const child = await (await upgrade.child()).describe();
    expect(await child.staticSummary()).to.equal(`${upgrade.resourceId()}-name to 9.0.2-0.25148076`);
    expect(await child.staticDetails())
      .to.contain(upgrade.resourceId())
      .and.to.contain(upgrade.id);
  });

  it("says of every Activity what it does, and to which cluster or host", async () => {
    const upgrade = await bench().upgrade({}, new FakeActivities({}, 2));
    await upgrade.end();
    expect(await summaries(upgrade)).to.deep.equal([
      "CLUSTER: prechecks",
      `check that bundle ${upgrade.plan.bundle.id} can still be installed`,
    ]);
    expect(await summaries(upgrade, 0)).to.deep.equal([
      "CLUSTER: read hosts",
      "CLUSTER: read remediation policy",
      "CLUSTER: set remediation policy",
      "CLUSTER: set desired image 9.0.2-0.25148076",
      "esx-01.example.com: remediate",
      "esx-02.example.com: remediate",
      "CLUSTER: read hosts",
      "CLUSTER: restore remediation policy",
    ]);
  });

  it("says of every timer what is waited for, and of the question for a holder which cluster it is about", async () => {
    const scheduledTimestamp = await later();
    const resources = clusters(1).map((cluster) => ({ ...cluster, scheduledTimestamp }));
    const holder = await bench().upgrade({ resources }, new FakeActivities({}, 1));
    await eventually(
      () => summaries(holder),
      (all) => all.length > 1,
    );
    expect(await summaries(holder)).to.deep.equal(["CLUSTER: prechecks", `wait until ${scheduledTimestamp}`]);
    const loser = await bench().upgrade({ resources, resolutionDays: 3 }, new FakeActivities({}, 1));
    await loser.untilStatuses("Failed / COMPLETED_WITH_FAILURE");
    expect(new Set(await summaries(loser))).to.deep.equal(
      new Set(["CLUSTER: read lock holder", "wait 3 days for retry or resolve"]),
    );
  });

  it("leads with the phase and the next step: a draft, a time, the end", async () => {
    const upgrade = await bench().upgrade({ draft: true }, new FakeActivities({}, 2));
    await upgrade.untilStatuses("Pending / DRAFT");
    expect(await upgrade.currentDetails())
      .to.match(/^\*\*Draft: waiting for the commit\*\* \(DRAFT\)/)
      .and.to.match(new RegExp(`temporal workflow signal --name commit \\\\\\n  --workflow-id ${upgrade.id}`));
    const scheduledTimestamp = await later();
    await upgrade.ask("commit", { scheduledTimestamp });
    await upgrade.untilStatuses("Pending / SCHEDULED");
    expect(await upgrade.currentDetails())
      .to.match(/^\*\*Scheduled\*\* \(SCHEDULED\)/)
      .and.to.contain(`Begins at ${scheduledTimestamp}`);
    expect(await upgrade.currentDetails(0)).to.equal("**Waiting for its turn**");
    await upgrade.ask("commit", { upgradeNow: true });
    await upgrade.end();
    expect(await upgrade.currentDetails())
      .to.match(/^\*\*Successful\*\* \(COMPLETED_WITH_SUCCESS\)/)
      .and.to.contain("Hosts: **2 of 2** done, 0 failed.");
    expect(await upgrade.currentDetails(0))
      .to.match(/^\*\*Every host runs 9.0.2-0.25148076\*\*/)
      .and.to.contain("Hosts: **2 of 2** at the target, 0 failed.");
  });

  it("counts the hosts of all clusters while they run", async () => {
    const gate = new Gate();
    const fake = new FakeActivities({
      remediateHost: async (input) => {
        if (input.host.host === "host-3") await gate.pass();
        return upgraded(input);
      },
    });
    const upgrade = await bench().upgrade({}, fake);
    await gate.reached;
    // It is told every five seconds at most.
    const details = await eventually(
      () => upgrade.currentDetails(),
      (shown) => shown.includes("Hosts: **2 of 3** done, 0 failed."),
    );
    expect(details).to.match(/^\*\*Running\*\* \(INPROGRESS\)/);
    gate.open();
    await upgrade.end();
    expect(await upgrade.currentDetails()).to.contain("**3 of 3**");
  });

  it("shows the last error and what can be done about it", async () => {
    const fake = new FakeActivities({ remediateHost: (input) => Promise.reject(hostFailure(input)) });
    const upgrade = await bench().upgrade({}, fake);
    await upgrade.untilStatuses("Failed / COMPLETED_WITH_FAILURE");
    expect(await upgrade.currentDetails())
      .to.match(/^\*\*Failed, waiting for a decision\*\* \(COMPLETED_WITH_FAILURE\)/)
      .and.to.contain("Hosts: **0 of 3** done, 1 failed.")
      .and.to.match(/Last error: Cluster .*Host esx-01.example.com failed\./)
      .and.to.match(new RegExp(`temporal workflow signal --name retry \\\\\\n  --workflow-id ${upgrade.id}`));
    expect(await upgrade.currentDetails(0)).to.match(/^\*\*Failed\*\*[^]*Last error: Host esx-01.example.com failed/);
  });

  it("keeps showing the error of an earlier attempt while a retry runs and when it has succeeded", async () => {
    const gate = new Gate();
    let attempts = 0;
    const fake = new FakeActivities(
      {
        remediateHost: async (input) => {
          if (++attempts === 1) throw hostFailure(input);
          await gate.pass();
          return upgraded(input);
        },
      },
      1,
    );
    const upgrade = await bench().upgrade({}, fake);
    await upgrade.untilStatuses("Failed / COMPLETED_WITH_FAILURE");
    await upgrade.ask("retry");
    await gate.reached;
    const earlier = /Last error: Cluster .*Host esx-01.example.com failed\./;
    expect(await upgrade.currentDetails())
      .to.match(/^\*\*Running\*\*/)
      .and.to.match(earlier);
    gate.open();
    await upgrade.end();
    expect(await upgrade.currentDetails())
      .to.contain("COMPLETED_WITH_SUCCESS")
      .and.to.match(earlier);
  });

  it("shows why a draft cannot be committed", async () => {
    const fake = new FakeActivities({ runClusterPrechecks: async () => ({ stages: failedCheck() }) });
    const upgrade = await bench().upgrade({ draft: true }, fake);
    await upgrade.untilStatuses("Pending / DRAFT");
    const details = await upgrade.currentDetails();
    expect(details).to.contain("prechecks have failed").and.to.contain("HOST_NOT_CONNECTED happened");
    expect(details).not.to.contain("--name commit");
  });

  it("shows that it was cancelled, and promises nothing more after it was given up", async () => {
    const [cancelled, resolved] = await Promise.all([
      bench().upgrade(
        { draft: true },
        new FakeActivities({ runClusterPrechecks: async () => ({ stages: passedCheck() }) }),
      ),
      bench().upgrade({}, new FakeActivities({ remediateHost: (input) => Promise.reject(hostFailure(input)) })),
    ]);
    await cancelled.untilStatuses("Pending / DRAFT");
    await cancelled.handle.cancel();
    await cancelled.end();
    expect(await cancelled.currentDetails()).to.equal("**Cancelled** (CANCELLED)");
    await resolved.untilStatuses("Failed / COMPLETED_WITH_FAILURE");
    await resolved.ask("resolve");
    await resolved.end();
    const details = await resolved.currentDetails();
    expect(details)
      .to.match(/^\*\*Failed/)
      .and.not.to.contain("--name retry")
      .and.not.to.contain("waiting");
  });
});
