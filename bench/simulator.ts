import { fork } from "node:child_process";
import { join } from "node:path";

/** A connection that nobody has used for a while is closed by the simulator, and may be just when it is used again. */
const once = { connection: "close" };

/** A line of its ledger; `cluster` and `host` are the simulator's ids. */
interface LedgerEntry {
  readonly at: string;
  readonly cluster?: string;
  readonly host?: string;
}

/**
 * The simulator of a fleet. The one of `npm start` saves all its clusters before each answer, which for thousands of hosts costs
 * more than what is measured; this one only remembers.
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
    await this.tell("POST", "reset");
  }

  /**
   * From now on hosts take 50 minutes, or as many as told, and everything else as good as no time: its tasks have ended when they are
   * looked at, but for those of a few milliseconds where hosts take longer than two minutes. A reset forgets it.
   */
  async makeHostsSlow(minutes = 50): Promise<void> {
    await this.tell("PATCH", "settings", { hostSeconds: (minutes * 60) / 100_000 });
    await this.tell("POST", "faults", { kind: "HOST_SLOW", factor: 100_000 });
  }

  /** From now on the next remediations of each of these hosts fail, so many times. */
  async failHosts(cluster: string, hosts: readonly string[], times: number): Promise<void> {
    for (const host of hosts) await this.tell("POST", "faults", { kind: "REMEDIATION_FAILS", cluster, host, times });
  }

  /** What it has recorded of one kind of step. */
  async ledger(step: string): Promise<readonly LedgerEntry[]> {
    const response = await fetch(`${this.url}/simulator/ledger?step=${step}`, { headers: once });
    return (await response.json()) as LedgerEntry[];
  }

  private async tell(method: string, path: string, body?: unknown): Promise<void> {
    const response = await fetch(`${this.url}/simulator/${path}`, {
      method,
      headers: { ...once, ...(body !== undefined && { "content-type": "application/json" }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`The simulator refused ${path}: ${await response.text()}`);
  }
}
