import * as E from "fp-ts/Either";
import { appendFile, mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { LedgerEntry } from "./ledger-entry";
import { SimulatorState } from "./simulator-state";

interface Saved {
  readonly state: SimulatorState;
  readonly ledger: LedgerEntry[];
}

/** What the file holds; a file that is there but is not ours, or of another form, is `UNREADABLE`. */
export type Loaded = { readonly _tag: "Saved"; readonly saved: Saved } | { readonly _tag: "None" | "Unreadable" };

const isMissing = (error: unknown) => error instanceof Error && "code" in error && error.code === "ENOENT";

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Where the simulator's state outlives it: one JSON file that is replaced as a whole (written beside, then renamed),
 * and the ledger beside it (`….ledger.jsonl`), which only grows. The state says how much of the ledger is its own;
 * entries after that come from a moment which the state does not know, and happen again.
 */
export class StateFile {
  private readonly ledgerFile: string;
  /** Each cluster's JSON as last written: with thousands of hosts, making all of it anew for each call is too slow. */
  private readonly clusterJson = new Map<string, string>();
  private savedLedgerLength = 0;

  constructor(private readonly file: string) {
    this.ledgerFile = `${file}.ledger.jsonl`;
  }

  async load(): Promise<Loaded> {
    const text = await readIfThere(this.file);
    if (text === undefined) return { _tag: "None" };
    const state = SimulatorState.decode(parseJson(text));
    if (E.isLeft(state)) return { _tag: "Unreadable" };
    const lines = ((await readIfThere(this.ledgerFile)) ?? "").split("\n").slice(0, state.right.global.ledgerLength);
    const ledger = lines.flatMap((line) => {
      const entry = LedgerEntry.decode(parseJson(line));
      return E.isRight(entry) ? [entry.right] : [];
    });
    if (ledger.length < state.right.global.ledgerLength) return { _tag: "Unreadable" };
    await writeFile(this.ledgerFile, ledger.map((entry) => `${JSON.stringify(entry)}\n`).join(""));
    this.savedLedgerLength = ledger.length;
    return { _tag: "Saved", saved: { state: state.right, ledger } };
  }

  /** Keeps an unusable state for whoever wants to look at it; answers its new name. */
  async putAside(now: number): Promise<string> {
    const name = `${this.file}.${now}.old`;
    await rename(this.file, name);
    return name;
  }

  /** Begins anew: the next save writes everything. */
  async clear(): Promise<void> {
    this.clusterJson.clear();
    this.savedLedgerLength = 0;
    await mkdir(dirname(this.file), { recursive: true });
    await writeFile(this.ledgerFile, "");
  }

  /** Writes the state as it is when called; `changed` names the clusters whose JSON is stale. */
  async save(state: SimulatorState, ledger: readonly LedgerEntry[], changed: ReadonlySet<string>): Promise<void> {
    for (const cluster of state.clusters)
      if (changed.has(cluster.id) || !this.clusterJson.has(cluster.id))
        this.clusterJson.set(cluster.id, JSON.stringify(cluster));
    const global = JSON.stringify({ ...state.global, ledgerLength: ledger.length });
    const clusters = state.clusters.map(({ id }) => this.clusterJson.get(id)).join(",\n");
    const nsx = state.nsx ? `,"nsx":${JSON.stringify(state.nsx)}` : "";
    const text = `{"version":${state.version},"global":${global},"clusters":[\n${clusters}\n]${nsx}}\n`;
    const fresh = ledger.slice(this.savedLedgerLength);
    const length = ledger.length;

    // The ledger first: a state that counts entries which are not there would be unreadable.
    if (fresh.length > 0)
      await appendFile(this.ledgerFile, fresh.map((entry) => `${JSON.stringify(entry)}\n`).join(""));
    this.savedLedgerLength = length;
    const temporary = `${this.file}.tmp`;
    await writeFile(temporary, text);
    await rename(temporary, this.file);
  }
}
