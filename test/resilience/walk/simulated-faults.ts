import { pause } from "../../support/service/deployment";

interface Fault {
  readonly kind: string;
  readonly cluster?: string;
  readonly remaining?: number;
}

/** Faults of the component manager, asked for until it answers: it may be killed at any time. */
export class SimulatedFaults {
  constructor(private readonly simulatorUrl: string) {}

  async add(fault: Readonly<Record<string, unknown>>): Promise<void> {
    await this.answered("POST", fault);
  }

  /** How many failures of hosts and of prechecks are still to come on a cluster. */
  async left(cluster: string): Promise<{ readonly hosts: number; readonly checks: number }> {
    const faults = ((await this.answered("GET")) as Fault[]).filter((fault) => fault.cluster === cluster);
    const count = (kind: string) =>
      faults.filter((fault) => fault.kind === kind).reduce((sum, { remaining = 0 }) => sum + remaining, 0);
    return { hosts: count("REMEDIATION_FAILS"), checks: count("CHECK_FAILS") };
  }

  /** Takes all of them back. */
  async clear(): Promise<void> {
    await this.answered("DELETE");
  }

  private async answered(method: string, body?: unknown): Promise<unknown> {
    const deadline = Date.now() + 60_000;
    for (;;) {
      try {
        const response = await fetch(`${this.simulatorUrl}/simulator/faults`, {
          ...{ method, signal: AbortSignal.timeout(10_000) },
          ...(body !== undefined && { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
        });
        if (response.ok) return response.status === 204 ? undefined : await response.json();
        throw new Error(`The simulator refused the fault: ${await response.text()}`);
      } catch (error) {
        if (Date.now() > deadline || (error instanceof Error && error.message.includes("refused the fault")))
          throw error;
        await pause();
      }
    }
  }
}
