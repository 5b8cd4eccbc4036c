import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect } from "chai";
import { Agent, fetch } from "undici";
import type { Task } from "../../../src/domain/spec/task";
import type { LedgerEntry } from "../../../src/simulator/state/ledger-entry";
import { type ComposeProject, unhurried } from "./compose-project";

const draft = readFileSync(resolve(__dirname, "../../../examples/cluster-draft.json"), "utf8");
/** How long an upgrade of the example's four hosts may take while parts of the service are away, in milliseconds. */
const longestUpgrade = 180_000;

/** An operator who has logged in over TLS, and what the simulator has noted meanwhile. */
export class Operator {
  private simulatorAddress: string | undefined;

  private constructor(
    private readonly project: ComposeProject,
    private readonly token: string,
  ) {}

  static async logIn(project: ComposeProject): Promise<Operator> {
    const credentials = { username: "admin", password: project.secret("admin-password").trim() };
    const { accessToken } = await new Operator(project, "").ask<{ accessToken: string }>(
      "POST",
      "/v1/tokens",
      credentials,
    );
    return new Operator(project, accessToken);
  }

  /** Sends a request with the certificate of `secrets/` as the only one to trust, again while nobody answers. */
  async ask<T>(method: string, path: string, body?: object): Promise<T> {
    const dispatcher = new Agent({ connect: { ca: this.project.secret("api/tls.crt") } });
    try {
      const response = await fetch(`https://127.0.0.1:${this.project.apiPort}${path}`, {
        method,
        dispatcher,
        headers: { authorization: `Bearer ${this.token}`, ...(body && { "content-type": "application/json" }) },
        ...(body && { body: JSON.stringify(body) }),
      });
      const answer = await response.text();
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${answer}`);
      return JSON.parse(answer) as T;
    } finally {
      await dispatcher.close();
    }
  }

  /** Puts the simulator back, starts the example's draft and commits it when its prechecks have passed. */
  async startUpgrade(): Promise<string> {
    await this.simulator("reset", "POST");
    const { id } = await this.ask<Task>("POST", "/v1/upgrades", JSON.parse(draft) as object);
    await this.untilTask(`${id}-prechecks-1`, "Successful");
    await this.ask("PATCH", `/v1/upgrades/${id}`);
    return id;
  }

  /** Waits until so many hosts are being remediated, or have been; the ledger then. */
  async untilHosts(count: number): Promise<LedgerEntry[]> {
    return unhurried(
      () => this.ledger(),
      (ledger) => ledger.filter(({ step }) => step === "APPLY_STARTED").length >= count,
      longestUpgrade,
    );
  }

  /** The Task has become Successful, and the simulator has seen each of the four hosts remediated once. */
  async untilDone(id: string): Promise<void> {
    await this.untilTask(id, "Successful");
    const ledger = await this.ledger();
    const remediated = ledger.filter(({ step }) => step === "APPLY_STARTED").map((entry) => entry.host);
    expect(remediated, "hosts that were remediated").to.have.lengthOf(4);
    expect(new Set(remediated).size, "once each").to.equal(4);
  }

  private async untilTask(id: string, status: string): Promise<void> {
    const read = () => this.ask<Task>("GET", `/v1/tasks/${id}`).catch((error: unknown) => ({ status: String(error) }));
    const ended = (reading: { readonly status: string }) => /^(Successful|Failed|Cancelled)$/.test(reading.status);
    const task = await unhurried(read, ended, longestUpgrade);
    expect(task.status, JSON.stringify(task)).to.equal(status);
  }

  private ledger(): Promise<LedgerEntry[]> {
    return this.simulator<LedgerEntry[]>("ledger");
  }

  /** The simulator publishes no port: this machine is in the network of the containers. */
  private async simulator<T>(path: string, method = "GET"): Promise<T> {
    const answer = await unhurried(
      async () => {
        try {
          this.simulatorAddress ??= await this.project.address("simulator");
          const response = await fetch(`http://${this.simulatorAddress}:8090/simulator/${path}`, { method });
          const text = await response.text();
          if (!response.ok || (method === "GET" && text === ""))
            throw new Error(`${response.status} without an answer`);
          return text;
        } catch {
          // It is being started, and may have another address then.
          this.simulatorAddress = undefined;
          return undefined;
        }
      },
      (text) => text !== undefined,
      60_000,
    );
    return (answer ? JSON.parse(answer) : undefined) as T;
  }
}
