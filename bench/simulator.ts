import { fork } from "node:child_process";
import { join } from "node:path";

/** The simulator closes an idle connection, perhaps just when it is used again: each request has its own. */
const ownConnection = { connection: "close" };

/** A line of its ledger; `cluster` and `host` are the simulator's ids. */
interface LedgerEntry {
  readonly at: string;
  readonly cluster?: string;
  readonly host?: string;
}

/**
 * The simulator of a fleet. The one of `npm start` saves all its clusters before each answer, which for thousands of hosts costs
 * more than what is measured; this one keeps its state in memory.
 */
export class BenchSimulator {
  private constructor(
    readonly url: string,
    readonly stop: () => void,
  ) {}

  static async start(configFile: string): Promise<BenchSimulator> {
    const child = fork(join(__dirname, "simulator-process.mjs"), [configFile], { execArgv: [] });
    const url = await new Promise<string>((resume, reject) => {
      child.once("message", (message) => resume((message as { url: string }).url));
      child.once("exit", () => reject(new Error("The simulator ended at its start")));
    });
    return new BenchSimulator(url, () => child.disconnect());
  }

  /** Every cluster as it was at first, hosts that take no time, an empty ledger. */
  async reset(): Promise<void> {
    await this.control("POST", "reset");
  }

  /**
   * From now on the remediation of a host takes so many seconds, and everything else almost no time: its tasks have ended when
   * they are first read, but for those of a few milliseconds where hosts take longer than two minutes. Until the next reset.
   */
  async setHostDuration(seconds: number): Promise<void> {
    await this.control("PATCH", "settings", { hostSeconds: seconds / 100_000 });
    await this.control("POST", "faults", { kind: "HOST_SLOW", factor: 100_000 });
  }

  /** From now on the next remediations of each of these hosts fail, so many times. */
  async failHosts(cluster: string, hosts: readonly string[], times: number): Promise<void> {
    for (const host of hosts) await this.control("POST", "faults", { kind: "REMEDIATION_FAILS", cluster, host, times });
  }

  /** What it has recorded of one kind of step. */
  async ledger(step: string): Promise<readonly LedgerEntry[]> {
    const response = await fetch(`${this.url}/simulator/ledger?step=${step}`, { headers: ownConnection });
    return (await response.json()) as LedgerEntry[];
  }

  private async control(method: string, path: string, body?: unknown): Promise<void> {
    const response = await fetch(`${this.url}/simulator/${path}`, {
      method,
      headers: { ...ownConnection, ...(body !== undefined && { "content-type": "application/json" }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`The simulator refused ${path}: ${await response.text()}`);
  }
}
