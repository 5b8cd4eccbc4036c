import { expect } from "chai";
import { eventually } from "../../support/eventually";
import { failedCheck, FakeActivities, Gate, hostFailure, passedCheck, upgraded } from "../../support/fake-activities";
import { operatorRequests } from "../../../src/domain/requests/upgrade-request";
import { utcMinute } from "../../../src/domain/timestamp";
import type { RunningUpgrade } from "../../support/running-upgrade";
import { clusters, sampleBundle } from "../../support/sample-plan";
import { useBench } from "../../support/upgrade-bench";

describe("What the Temporal Web UI shows of an upgrade", function () {
  this.timeout(30_000);
  const bench = useBench("DEV_SERVER");
  /** So soon that the upgrade has the Workflows of its clusters. */
  const later = () => bench().inTime(1_800_000);

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
    expect(await of.staticSummary()).to.equal("Upgrade 2 clusters to 9.0.2");
    const details = (await of.staticDetails()) ?? "";
    expect(details).to.contain(`Bundle 9.0.2 (${sampleBundle.id}) on 2 resources`);
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
      .and.to.contain(`Part of upgrade \`${upgrade.id}\`: ${upgrade.plan.name}.`);
  });

  it("says of every Activity and timer what it does, and to which cluster or host", async () => {
    const upgrade = await bench().upgrade({}, new FakeActivities({}, 2));
    await upgrade.end();
    expect(await summaries(upgrade)).to.deep.equal([
      "CLUSTER: prechecks",
      `check that bundle 9.0.2 (${upgrade.plan.bundle.id}) can still be installed`,
      "may it begin?",
    ]);
    expect(await summaries(upgrade, 0)).to.deep.equal([
      "CLUSTER: read hosts",
      "CLUSTER: read remediation policy",
      "CLUSTER: set remediation policy",
      "CLUSTER: set desired image 9.0.2-0.25148076",
      "esx-01.example.com: remediate",
      "before the upgrade is told of more hosts",
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
    expect(await summaries(holder)).to.deep.equal(["CLUSTER: prechecks", `CLUSTER starts at ${scheduledTimestamp}`]);
    const atOnce = resources.map(({ scheduledTimestamp: _, ...cluster }) => cluster);
    const loser = await bench().upgrade({ resources: atOnce, resolutionDays: 3 }, new FakeActivities({}, 1));
    await loser.untilStatuses("Failed / COMPLETED_WITH_FAILURE");
    const { decideBy } = await loser.upgrade();
    expect(new Set(await summaries(loser))).to.deep.equal(
      new Set(["CLUSTER: read lock holder", `wait for retry or resolve until ${decideBy}`]),
    );
  });

  it("leads with the phase and the next step: a draft, a time, the end", async () => {
    const upgrade = await bench().upgrade({ draft: true }, new FakeActivities({}, 2));
    await upgrade.untilStatuses("Pending / DRAFT");
    expect(await upgrade.currentDetails())
      .to.match(/^\*\*Draft, ready\*\* \(DRAFT\) since 20\d\d-\d\d-\d\d \d\d:\d\d:\d\d UTC/)
      .and.to.match(new RegExp(`temporal workflow update execute --name commit \\\\\\n  --workflow-id ${upgrade.id}`));
    const scheduledTimestamp = await later();
    await upgrade.ask("commit", { scheduledTimestamp });
    await upgrade.untilStatuses("Pending / SCHEDULED");
    expect(await upgrade.currentDetails())
      .to.match(/^\*\*Scheduled\*\* \(SCHEDULED\)/)
      .and.to.contain(utcMinute(Date.parse(scheduledTimestamp)));
    expect(await upgrade.currentDetails(0)).to.equal("**Waiting for its turn**");
    await upgrade.ask("commit", { upgradeNow: true });
    await upgrade.end();
    expect(await upgrade.currentDetails())
      .to.match(/^\*\*Successful\*\* \(COMPLETED_WITH_SUCCESS\)/)
      .and.to.contain("Hosts: **2 of 2** done, 0 failed.");
    expect(await upgrade.currentDetails(0))
      .to.match(/^\*\*Upgraded: every host runs 9.0.2-0.25148076\*\*/)
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
      .to.match(/^\*\*Needs you\*\* \(COMPLETED_WITH_FAILURE\)/)
      .and.to.match(/It has failed and waits for a decision until 20/)
      .and.to.contain("Hosts: **0 of 3** done, 1 failed.")
      .and.to.match(/Last error: Cluster .*Host esx-01.example.com failed\./)
      .and.to.match(new RegExp(`temporal workflow update execute --name retry \\\\\\n  --workflow-id ${upgrade.id}`));
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
    const failure = `Cluster ${upgrade.resourceId()}-name: Host esx-01.example.com failed.`;
    expect(await upgrade.currentDetails())
      .to.match(/^\*\*Running\*\*/)
      .and.to.contain(`Last error: ${failure}`);
    gate.open();
    await upgrade.end();
    expect(await upgrade.currentDetails())
      .to.contain("COMPLETED_WITH_SUCCESS")
      .and.to.contain(`Earlier error: ${failure}`);
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
    expect(await cancelled.currentDetails()).to.match(/^\*\*Cancelled\*\* \(CANCELLED\) since \S+ \S+ UTC$/);
    await resolved.untilStatuses("Failed / COMPLETED_WITH_FAILURE");
    await resolved.ask("resolve");
    await resolved.end();
    const details = await resolved.currentDetails();
    expect(details)
      .to.match(/^\*\*Given up\*\* \(COMPLETED_WITH_FAILURE\)/)
      .and.not.to.contain("--name retry")
      .and.not.to.contain("waiting");
  });

  /** The Signals that the details of an upgrade offer, and the one that their command sends. */
  async function offered(upgrade: RunningUpgrade): Promise<{ signals: string[]; command: string | undefined }> {
    const details = await upgrade.currentDetails();
    const signals = [...details.matchAll(/^- `(\w+)`: /gm)].map(([, name = ""]) => name);
    return { signals, command: /--name (\w+)/.exec(details)?.[1] };
  }

  it("offers at each phase the Signals that the upgrade then takes, and no others", async () => {
    const gate = new Gate();
    const fake = new FakeActivities({
      remediateHost: async (input) => {
        await gate.pass();
        throw hostFailure(input);
      },
    });
    const upgrade = await bench().upgrade({ draft: true }, fake);
    await upgrade.untilStatuses("Pending / DRAFT");
    expect(await offered(upgrade)).to.deep.equal({ signals: ["commit", "prechecks", "skip"], command: "commit" });
    for (const request of ["resume", "retry", "pause", "resolve"] as const)
      expect((await upgrade.ask(request)).accepted, request).to.equal(false);
    await upgrade.ask("commit", { scheduledTimestamp: await later() });
    await upgrade.untilStatuses("Pending / SCHEDULED");
    expect(await offered(upgrade)).to.deep.equal({ signals: ["commit", "skip"], command: "commit" });
    expect(await upgrade.currentDetails()).to.contain(`--name commit \\\n  --input '{"upgradeNow": true}' \\\n`);
    await upgrade.ask("commit", { upgradeNow: true });
    await gate.reached;
    expect(await offered(upgrade)).to.deep.equal({ signals: ["pause", "skip"], command: "pause" });
    expect(await upgrade.currentDetails()).to.contain(`In work: ${upgrade.resourceId()}-name.`);
    await upgrade.ask("pause");
    expect(await offered(upgrade)).to.deep.equal({ signals: ["resume", "skip"], command: "resume" });
    expect(await upgrade.currentDetails()).to.match(/^\*\*Pausing\*\* \(PAUSED\)/);
    await upgrade.ask("resume");
    gate.open();
    await upgrade.untilStatuses("Failed / COMPLETED_WITH_FAILURE");
    expect(await offered(upgrade)).to.deep.equal({ signals: ["retry", "resolve", "skip"], command: "retry" });
    for (const request of ["commit", "resume", "prechecks", "pause"] as const)
      expect((await upgrade.ask(request)).accepted, request).to.equal(false);
    await upgrade.ask("resolve");
    await upgrade.end();
    expect(await offered(upgrade)).to.deep.equal({ signals: [], command: undefined });
  });

  it("offers the approval first where that alone is waited for", async () => {
    const upgrade = await bench().upgrade({ approvals: 1 }, new FakeActivities({}, 1));
    const details = await eventually(
      () => upgrade.currentDetails(),
      (shown) => shown.startsWith("**Needs you**"),
    );
    expect(details)
      .to.contain("It waits for 1 approval of 1.")
      .and.to.contain(`--name approve \\\n  --input '{"requestedBy": "NAME"}' \\\n`)
      .and.to.contain("- `commit`: gives it another time, by its input");
    expect((await offered(upgrade)).signals).to.deep.equal(["approve", "commit", "reject", "skip"]);
    expect((await upgrade.ask("approve", { requestedBy: "bob" })).accepted).to.equal(true);
    await upgrade.end();
  });

  it("gives the command where Temporal is reached, and the console where people open it", async () => {
    const [known, unknown] = await Promise.all([
      bench().upgrade({
        draft: true,
        publicUrl: "https://upgrades.example.com",
        temporalAddress: "temporal.example.com:7233",
      }),
      bench().upgrade({ draft: true }),
    ]);
    await Promise.all([known, unknown].map((upgrade) => upgrade.untilStatuses("Pending / DRAFT")));
    const address = "--address temporal.example.com:7233 --namespace default";
    const link = `(https://upgrades.example.com/#/upgrades/${known.id})`;
    expect(await known.currentDetails())
      .to.contain(` \\\n  --workflow-id ${known.id} \\\n  ${address}\n`)
      .and.to.contain(`[Open in the console]${link}`);
    expect(await unknown.currentDetails())
      .to.contain(` \\\n  --workflow-id ${unknown.id}\n`)
      .and.not.to.contain("console");
    await known.handle.signal("commit");
    expect(await (await (await known.child()).describe()).staticDetails()).to.contain(link);
  });

  it("names the hosts in work on a cluster, and how to steer it", async () => {
    const gate = new Gate();
    const fake = new FakeActivities({
      remediateHost: async (input) => {
        await gate.pass();
        return upgraded(input);
      },
    });
    const upgrade = await bench().upgrade({}, fake);
    await gate.reached;
    expect(await upgrade.currentDetails(0))
      .to.match(/^\*\*Upgrading hosts\*\*/)
      .and.to.contain("In work: esx-01.example.com.");
    const details = await (await (await upgrade.child()).describe()).staticDetails();
    expect(details).to.contain("Pause, resume, cancel and retry the upgrade, not this Workflow.");
    gate.open();
    await upgrade.end();
    expect(await upgrade.currentDetails(0)).not.to.contain("In work");
  });

  interface Definition {
    readonly name: string;
    readonly description?: string;
  }

  async function definitions(upgrade: RunningUpgrade, n?: number) {
    const handle = n === undefined ? upgrade.handle : await upgrade.child(n);
    const { definition } = await handle.query<{
      definition: Record<"signalDefinitions" | "queryDefinitions", Definition[]>;
    }>("__temporal_workflow_metadata");
    const own = ({ name }: Definition) => !name.startsWith("__");
    return { signals: definition.signalDefinitions.filter(own), queries: definition.queryDefinitions.filter(own) };
  }

  it("describes each Signal and Query that it offers, and offers none that is internal", async () => {
    const upgrade = await bench().upgrade({ draft: true });
    await upgrade.untilStatuses("Pending / DRAFT");
    await upgrade.ask("commit", { scheduledTimestamp: await later() });
    const [own, child] = [await definitions(upgrade), await definitions(upgrade, 0)];
    expect(own.signals.map(({ name }) => name)).to.have.members(operatorRequests);
    expect(own.queries.map(({ name }) => name)).to.have.members([
      "task",
      "upgrade",
      "request",
      "activity",
      "taskWithChildren",
    ]);
    expect(child.signals).to.deep.equal([]);
    expect(child.queries.map(({ name }) => name)).to.deep.equal(["subTask"]);
    for (const { name, description } of [...own.signals, ...own.queries, ...child.queries])
      expect(description, name).to.match(/^[A-Z].*\.$/);
  });
});
