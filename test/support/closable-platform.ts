import { expect } from "chai";
import { isRight } from "fp-ts/Either";
import type { Freeze } from "../../src/domain/freeze";
import { temporalFreezes } from "../../src/temporal/freezes";
import { eventually } from "./eventually";
import type { RunningUpgrade } from "./running-upgrade";
import { type SimulatedPlan, SimulatedPlatform } from "./simulated-platform";
import type { UpgradeBench } from "./upgrade-bench";

/** A simulated platform for each test, in a domain that a freeze or the bench's calendars close. */
export function useClosablePlatform(bench: () => UpgradeBench) {
  let platform: SimulatedPlatform;
  const freezes = () => temporalFreezes(bench().env.client);

  async function thaw(): Promise<void> {
    expect(isRight(await freezes().lift(platform.domain, "bob")())).to.equal(true);
  }

  beforeEach(async () => {
    platform = await SimulatedPlatform.start();
  });

  afterEach(async () => {
    for (const closed of [bench().unreadableDomains, bench().closedDomains, bench().calendars, bench().closings])
      closed.clear();
    await thaw();
    await platform.close();
  });

  const readFreezes = (domains: readonly string[]) => bench().readFreezes(domains);
  const steps = async (step: string) => (await platform.steps()).filter((one) => one === step).length;

  return {
    platform: () => platform,
    thaw,
    /** How often something was done. */
    steps,

    start: (product: "HOSTOS" | "NETVIRT" | "MGMT", more?: SimulatedPlan): Promise<RunningUpgrade> =>
      bench().upgrade(platform.plan(product, more), platform.activities({}, readFreezes, bench().openingOf)),

    async freeze(more: Partial<Freeze> = {}): Promise<void> {
      const since = new Date().toISOString();
      const frozen = { reason: "Hosts lose storage", frozenBy: "alice", since, domain: platform.domain, ...more };
      expect(isRight(await freezes().put(frozen)())).to.equal(true);
    },

    untilSteps: (step: string, count: number): Promise<number> =>
      eventually(
        () => steps(step),
        (begun) => begun >= count,
      ),
  };
}
