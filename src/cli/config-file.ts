import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import * as E from "fp-ts/Either";
import * as t from "io-ts";
import { model } from "../domain/codec";
import { decodeJson } from "../domain/decode";
import { legible } from "../domain/legible";
import type { Environment } from "./environment";
import { wrongUsage } from "./errors";

/** A server, the tokens that it gave, which are never printed, and the time zone of times that name none. */
const StoredContext = model({ server: t.string }, { accessToken: t.string, refreshToken: t.string, zone: t.string });
export type StoredContext = t.TypeOf<typeof StoredContext>;

const ConfigFile = model({ contexts: t.record(t.string, StoredContext) }, { current: t.string });
type ConfigFile = t.TypeOf<typeof ConfigFile>;

/** What the context is called that `login` makes where no other is named. */
const defaultName = "default";

/** Where contexts are kept: `UPGRADECTL_CONFIG`, else `upgradectl/config.json` in the user's configuration folder. */
export function configPath({ env }: Pick<Environment, "env">): string {
  const folder = env["XDG_CONFIG_HOME"] || join(env["HOME"] || homedir(), ".config");
  return env["UPGRADECTL_CONFIG"] || join(folder, "upgradectl", "config.json");
}

/** The contexts of the configuration file, and the one of them that a command is for. */
export class Contexts {
  readonly path: string;
  /** The chosen context's name: that of `--context`, else `UPGRADECTL_CONTEXT`, else the current one. */
  readonly name: string;
  private readonly isNamed: boolean;
  private file: ConfigFile;

  constructor(environment: Pick<Environment, "env">, named?: string) {
    this.path = configPath(environment);
    this.file = readConfig(this.path);
    const asked = named ?? (environment.env["UPGRADECTL_CONTEXT"] || undefined);
    this.isNamed = asked !== undefined;
    this.name = asked ?? this.file.current ?? defaultName;
  }

  /** The chosen context; undefined where there is none of this name. */
  get chosen(): StoredContext | undefined {
    return this.all.get(this.name);
  }

  get all(): ReadonlyMap<string, StoredContext> {
    return new Map(Object.entries(this.file.contexts));
  }

  get current(): string | undefined {
    return this.file.current;
  }

  /** Throws where a context was named that there is not. */
  check(): void {
    if (this.isNamed && !this.chosen) throw this.unknown(this.name);
  }

  unknown(name: string): Error {
    const known = [...this.all.keys()];
    return wrongUsage(
      `There is no context ${JSON.stringify(legible(name))}${known.length === 0 ? "" : `, only ${known.join(", ")}`}.`,
      `Create it with \`upgradectl context ${legible(name)} --server URL\`.`,
    );
  }

  /** Keeps a context, and with `use` as the current one. What other commands have written meanwhile stays. */
  keep(name: string, context: StoredContext, { use = false } = {}): void {
    const { contexts, current } = readConfig(this.path);
    this.write({ contexts: { ...contexts, [name]: context }, current: use ? name : (current ?? name) });
  }

  /** Forgets a context with its tokens. */
  remove(name: string): void {
    const { contexts, current } = readConfig(this.path);
    const { [name]: _removed, ...others } = contexts;
    this.write({ contexts: others, ...(current !== undefined && current !== name && { current }) });
  }

  /** Where only its user can read it, and in one step, so that no other command sees half of it. */
  private write(file: ConfigFile): void {
    const { path } = this;
    const fresh = `${path}.${process.pid}`;
    try {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      rmSync(fresh, { force: true });
      writeFileSync(fresh, `${JSON.stringify(ConfigFile.encode(file), null, 2)}\n`, { mode: 0o600, flag: "wx" });
      renameSync(fresh, path);
    } catch (error) {
      rmSync(fresh, { force: true });
      throw wrongUsage(`${path} cannot be written.`, "Set UPGRADECTL_CONFIG to a writable file.", {
        cause: error,
      });
    }
    this.file = file;
  }
}

function readConfig(path: string): ConfigFile {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return { contexts: {} };
    throw wrongUsage(`${path} cannot be read.`, "Make it readable, or remove it.", { cause: error });
  }
  const config = decodeJson(ConfigFile, text);
  if (E.isRight(config)) return config.right;
  throw wrongUsage(`${path} is not a valid configuration file.`, `Remove ${path}, then log in again.`);
}
