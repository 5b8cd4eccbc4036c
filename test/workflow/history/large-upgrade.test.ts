import { expect } from "chai";
import { FakeActivities, hostFailure, upgraded } from "../../support/fake-activities";
import type { RunningUpgrade } from "../../support/running-upgrade";
import { clusters } from "../../support/sample-plan";
import { useBench } from "../../support/upgrade-bench";

describe("A large upgrade", function () {
  this.timeout(60_000);
  const bench = useBench("DEV_SERVER");

  async function sizes(upgrade: RunningUpgrade) {
    const { raw, historyLength } = await upgrade.handle.describe();
    const fields = Object.values(raw.workflowExecutionInfo?.memo?.fields ?? {});
    return { events: historyLength, memo: fields.reduce((sum, { data }) => sum + (data?.length ?? 0), 0) };
  }

  it("of 30 clusters with 3 hosts each comes to its end with short histories", async () => {
    const upgrade = await bench().upgrade({ resources: clusters(30) });
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    expect(upgrade.fake.remediations).to.have.length(90);
    expect(await upgrade.currentDetails()).to.contain("**90 of 90**");
    const { events, memo } = await sizes(upgrade);
    // The server suggests to continue as new at 4,096.
    expect(events).to.be.below(1000);
    expect((await upgrade.events(0)).length).to.be.below(100);
    expect(memo).to.be.below(100_000);
  });

  it("is told of hosts by tenths, also after one has failed", async () => {
    const fake = new FakeActivities(
      {
        remediateHost: async (input) => {
          if (input.host.host === "host-1") throw hostFailure(input);
          return upgraded(input);
        },
      },
      40,
    );
    const upgrade = await bench().upgrade({ rollout: { toleratedFailures: 1 } }, fake);
    expect(await upgrade.end()).to.equal("SUCCESSFUL_WITH_WARNING");
    const { events } = await upgrade.handle.fetchHistory();
    const reports = events?.filter((event) => event.workflowExecutionSignaledEventAttributes?.signalName === "hosts");
    // From none to ten tenths, the first host in work, and the failure.
    expect(reports).to.have.lengthOf.within(1, 13);
  });

  it("of as many clusters as a request may name waits as a draft with a short history", async () => {
    const upgrade = await bench().upgrade({ draft: true, resources: clusters(256) }, new FakeActivities({}, 1));
    await upgrade.untilStatuses("Pending / DRAFT");
    const { events, memo } = await sizes(upgrade);
    expect(events).to.be.below(1000);
    expect(memo).to.be.below(500_000);
  });
});
