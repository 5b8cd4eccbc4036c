import { setTimeout as pauseFor } from "node:timers/promises";
import { until, type ProcessName } from "../../support/service/deployment";
import type { ServiceUnderTest } from "../../support/service/service-under-test";
import { deal, draws } from "./deck";
import type { Disturbances, Disturbed } from "./disturbances";
import type { SimulatedFaults } from "./simulated-faults";
import type { Transcript } from "./transcript";
import type { WalkedCluster } from "./walk-platform";

/** Faults of processes: killed with SIGKILL, or stopped for a moment as by an outage. */
const ofProcesses = {
  "kill -9 of the API": 2,
  "kill -9 of the worker": 2,
  "kill -9 of Temporal": 1,
  "kill -9 of the simulator": 1,
  "outage of Temporal": 1,
  "outage of the component manager": 1,
} as const;

/** Faults of the component manager that must use up no attempt. */
export const ofComponentManager = {
  "503 for a while": 1,
  "dropped connections": 1,
  "a lost answer": 1,
  "expired sessions": 1,
  "forgotten tasks": 1,
  "another operation in progress": 1,
} as const;

/** What operators do to all upgrades at once. */
const ofOperators = { "an emergency stop": 1, "an emergency stop of a domain": 1 } as const;

export const allFaults = { ...ofProcesses, ...ofComponentManager, ...ofOperators };
export type FaultName = keyof typeof allFaults;

/** A freeze takes effect within so many milliseconds of its answer. */
const takesEffectIn = 5_000;

/** What makes things go wrong while operators walk: one fault after another, as its seed decides. */
export class Adversary {
  private readonly random;

  constructor(
    private readonly service: ServiceUnderTest,
    private readonly seed: number,
    private readonly around: {
      readonly transcript: Transcript;
      readonly disturbances: Disturbances;
      readonly faults: SimulatedFaults;
    },
    private readonly clusters: readonly WalkedCluster[],
  ) {
    this.random = draws(seed, "the adversary waits");
  }

  /** Brings these faults as long as the walk goes on; when it resolves, all is up again. */
  async act(counts: Readonly<Partial<Record<FaultName, number>>>, goesOn: () => boolean): Promise<void> {
    const cards = deal(counts as Readonly<Record<FaultName, number>>, draws(this.seed, "the adversary is dealt"));
    for (;;) {
      await pauseFor(500 + Math.floor(this.random.number() * 1_500));
      if (!goesOn()) break;
      const fault = cards.next().value;
      this.around.transcript.count("faults", fault);
      this.around.transcript.say("adversary", fault);
      await this.bring(fault);
    }
  }

  private async bring(fault: FaultName): Promise<void> {
    const { faults, disturbances } = this.around;
    const seconds = 1 + Math.floor(this.random.number() * 2);
    // Faults that act so many times may wait for somebody to meet them.
    const componentManager = (request: Readonly<Record<string, unknown>>) => {
      disturbances.lasting("componentManager", "times" in request ? 60_000 : seconds * 1000);
      return faults.add(request);
    };
    switch (fault) {
      case "kill -9 of the API":
        return this.kill("api", "api");
      case "kill -9 of the worker":
        return this.kill("worker", "worker");
      case "kill -9 of Temporal":
        return this.kill("temporalServer", "temporal");
      case "kill -9 of the simulator":
        return this.kill("simulator", "componentManager");
      case "outage of Temporal":
        return this.stopFor(seconds, "temporalServer", "temporal");
      case "outage of the component manager":
        return this.stopFor(seconds, "simulator", "componentManager");
      case "503 for a while":
        return componentManager({ kind: "SERVICE_UNAVAILABLE", seconds });
      case "dropped connections":
        return componentManager({ kind: "CONNECTION_DROPPED", times: 5 });
      case "a lost answer":
        return faults.add({ kind: "CONNECTION_DROPPED", method: "POST", path: "action=apply", after: true, times: 1 });
      case "expired sessions":
        return componentManager({ kind: "SESSIONS_EXPIRED" });
      case "forgotten tasks":
        return faults.add({ kind: "TASKS_FORGOTTEN" });
      case "another operation in progress":
        return faults.add({ kind: "OPERATION_IN_PROGRESS", times: 2 });
      case "an emergency stop":
        return disturbances.during("freeze", () => this.freezeFor(seconds));
      case "an emergency stop of a domain":
        return disturbances.during("freeze", () => this.freezeFor(seconds, this.random.one(this.clusters).domain));
    }
  }

  /** Throws where a host begins although it is frozen, by its domain or with all. */
  private async freezeFor(seconds: number, domain?: string): Promise<void> {
    const domains = domain === undefined ? undefined : [domain];
    await this.untilDone("PUT", "", { reason: "Smoke in the hall", domains });
    await pauseFor(takesEffectIn);
    const from = new Date().toISOString();
    await pauseFor(seconds * 1000);
    const frozen = this.clusters.filter((one) => domain === undefined || one.domain === domain);
    const ids = new Set(frozen.map(({ simulated }) => simulated));
    const begun = (await this.service.ledger()).filter(
      ({ step, at = "", cluster = "" }) => step === "APPLY_STARTED" && at > from && ids.has(cluster),
    );
    if (begun.length > 0) throw new Error(`Hosts began although they are frozen: ${JSON.stringify(begun)}`);
    await this.untilDone("DELETE", domain === undefined ? "" : `?domain=${domain}`);
  }

  private untilDone(method: "PUT" | "DELETE", query: string, spec?: object): Promise<void> {
    return until(
      `${method} /v1/freeze is done`,
      async () => (await this.service.send(method, `/v1/freeze${query}`, spec)).status === 200,
      60,
    );
  }

  private kill(name: ProcessName, what: Disturbed): Promise<void> {
    return this.around.disturbances.during(what, async () => {
      await this.service.killAndAwaitSuccessor(name);
      await this.isUp();
    });
  }

  private stopFor(seconds: number, name: ProcessName, what: Disturbed): Promise<void> {
    return this.around.disturbances.during(what, async () => {
      this.service.signal(name, "SIGSTOP");
      await pauseFor(seconds * 1000);
      this.service.signal(name, "SIGCONT");
      await this.isUp();
    });
  }

  private isUp(): Promise<void> {
    const answers = (url: string) =>
      fetch(url, { signal: AbortSignal.timeout(5_000) }).then(
        ({ ok }) => ok,
        () => false,
      );
    return until(
      "all of the service is up",
      async () => {
        const urls = [
          ...this.service.apiUrls.map((url) => `${url}/health/ready`),
          `${this.service.simulatorUrl}/simulator/faults`,
        ];
        return (await Promise.all(urls.map(answers))).every((ok) => ok);
      },
      120,
    );
  }
}
