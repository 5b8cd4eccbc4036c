import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parse } from "yaml";

const root = resolve(__dirname, "../..");

/** A service of docker-compose.yml: the parts that tests look at. */
export interface ComposeService {
  readonly image: string;
  readonly build?: { readonly context: string; readonly args: Readonly<Record<string, string>> };
  readonly pull_policy?: string;
  readonly init?: boolean;
  readonly user?: string;
  readonly command?: readonly string[];
  readonly entrypoint?: readonly string[];
  readonly restart?: string;
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly privileged?: boolean;
  readonly network_mode?: string;
  readonly networks?: readonly string[];
  readonly profiles?: readonly string[];
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly tmpfs?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly env_file?: string | readonly { readonly path: string; readonly required: boolean }[];
  readonly secrets?: readonly string[];
  readonly stop_grace_period?: string;
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly deploy?: {
    readonly replicas?: number | string;
    readonly resources?: { readonly limits?: Readonly<Record<string, string | number>> };
  };
}

/** docker-compose.yml, its anchors resolved and its variables as they are written. */
export interface ComposeFile {
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
  readonly volumes: Readonly<Record<string, null>>;
  readonly networks: Readonly<Record<string, { readonly internal?: boolean }>>;
}

export function readCompose(): ComposeFile {
  return parse(readFileSync(join(root, "docker-compose.yml"), "utf8"), { merge: true }) as ComposeFile;
}

/** Replaces `${NAME}`, `${NAME-default}` and `${NAME:-default}` as Compose does. */
export function interpolated(text: string, variables: Readonly<Record<string, string>> = {}): string {
  return text.replace(/\$\{(\w+)(?:(:?)-([^}]*))?\}/g, (_, name: string, orEmpty = "", otherwise = "") => {
    const value = variables[name];
    return value === undefined || (value === "" && orEmpty === ":") ? (otherwise as string) : value;
  });
}

/** What a service finds in its environment where `variables` are those of Compose. */
export function environmentOf(
  { environment = {} }: ComposeService,
  variables: Readonly<Record<string, string>> = {},
): Record<string, string> {
  return Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, interpolated(value, variables)]));
}

/** The settings that deploy/compose/example.env has, by their names: their lines as they are without the `#`. */
export function exampleSettings(): Map<string, string> {
  const example = readFileSync(join(root, "deploy/compose/example.env"), "utf8");
  const lines = example.matchAll(/^#(\w+)=("[^"]*"|.*)$/gm);
  return new Map([...lines].map(([text, name = ""]) => [name, text.replace(/^#/gm, "")]));
}
