import { expect } from "chai";
import { isLeft } from "fp-ts/Either";
import pino from "pino";
import { temporalUpgradeExecutions } from "../../../src/temporal/upgrade-executions";
import { sendUpgradeRequest } from "../../../src/upgrades/control-upgrade";
import { useBench } from "../../support/upgrade-bench";

describe("Requests that the state of an upgrade refuses", function () {
  this.timeout(30_000);
  const bench = useBench("DEV_SERVER");

  it("leave one Signal for its activity log in its history, however often they are sent", async () => {
    const upgrade = await bench().upgrade({ draft: true });
    await upgrade.untilStatuses("Pending / DRAFT");
    const executions = temporalUpgradeExecutions(bench().env.client, pino({ level: "silent" }));
    let ids = 0;
    const ask = sendUpgradeRequest({ executions, identities: { newId: () => `refused-${++ids}` } });
    for (let i = 0; i < 20; i++)
      for (const name of ["resume", "pause", "retry", "resolve"] as const) {
        const answer = await ask(upgrade.id, { name }, "a script")();
        expect(isLeft(answer) && answer.left._tag, name).to.equal("Conflict");
      }
    const signals = (await upgrade.events()).flatMap(
      ({ workflowExecutionSignaledEventAttributes: signal }) => signal?.signalName ?? [],
    );
    expect(signals).to.deep.equal(["record", "record", "record", "record"]);
    expect(isLeft(await ask(upgrade.id, { name: "commit" }, "a script")())).to.equal(false);
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
  });
});
