import { expect } from "chai";
import { FakeActivities, Gate, upgraded } from "../../support/fake-activities";
import { eventually } from "../../support/eventually";
import { dataOf, notifierOf, toldTo } from "../../support/notifier";
import { useBench } from "../../support/upgrade-bench";

const receiver = { id: "chat", retryHours: 24, events: ["upgrade.window.ending"] } as const;
const minute = 60_000;

describe("The end of a maintenance window", function () {
  this.timeout(60_000);
  const bench = useBench("DEV_SERVER");

  afterEach(() => bench().closings.clear());

  /** An upgrade whose hosts are in work, in a window that closes after so many milliseconds. */
  async function inWindow(milliseconds: number) {
    const gate = new Gate();
    const closesAt = Date.now() + milliseconds;
    bench().closings.set("fra1", closesAt);
    const fake = new FakeActivities({ remediateHost: (input) => gate.pass().then(() => upgraded(input)) }, 1);
    const upgrade = await bench().upgrade({ notifications: [receiver] }, fake);
    await gate.reached;
    return { gate, fake, upgrade, closesAt };
  }

  it("is told half an hour before, once", async () => {
    const { gate, fake, upgrade, closesAt } = await inWindow(30 * minute + 2_000);
    expect(toldTo(fake), "told as soon as it begins").to.deep.equal([]);
    const [ending] = await eventually(
      async () => dataOf(fake, "upgrade.window.ending"),
      ({ length }) => length > 0,
    );
    expect(ending).to.include({ status: "INPROGRESS", windowClosesAt: new Date(closesAt).toISOString() });
    gate.open();
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    await notifierOf(bench(), upgrade).result();
    expect(toldTo(fake)).to.deep.equal(["upgrade.window.ending"]);
  });

  it("is told at once where work begins in the last half hour", async () => {
    const { gate, fake, upgrade } = await inWindow(5 * minute);
    await eventually(
      async () => toldTo(fake),
      ({ length }) => length === 1,
    );
    gate.open();
    await upgrade.end();
  });

  it("is not told of work that ends before", async () => {
    const { gate, fake, upgrade } = await inWindow(240 * minute);
    gate.open();
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    expect(toldTo(fake)).to.deep.equal([]);
  });
});
