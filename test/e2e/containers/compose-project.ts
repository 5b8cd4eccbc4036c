import { execFileSync } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { chmodSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { rootCertificates } from "node:tls";
import { eventually } from "../../support/eventually";
import { readCompose } from "../../support/compose-services";
import type { Engine, Said } from "./engine";

const root = resolve(__dirname, "../../..");
const pages = ["docs/operating.md", "docs/deploys.md"];

/** Whoever takes over from a worker that was killed waits for this long, and less than an operator's worker does. */
export const limits = ["COMPONENT_MANAGER_CALL_SECONDS=5"];

/** A container as `docker inspect` tells of it: the parts that tests look at. */
export interface Container {
  readonly Id: string;
  readonly Name: string;
  readonly State: {
    readonly Status: string;
    readonly Pid: number;
    readonly ExitCode: number;
    readonly Health?: { readonly Status: string };
  };
  readonly HostConfig: {
    readonly ReadonlyRootfs: boolean;
    readonly PidsLimit: number;
    readonly Memory: number;
    readonly NanoCpus: number;
  };
  readonly Config: { readonly Env: readonly string[]; readonly Labels: Readonly<Record<string, string>> };
  readonly Mounts: readonly { readonly Type: string; readonly Name?: string }[];
  readonly NetworkSettings: { readonly Networks: Readonly<Record<string, { readonly IPAddress: string }>> };
}

/**
 * The project in a checkout of its own, which was cloned with umask 077, and the commands of our pages in it. Ports are
 * free ones, as others may use this machine too, and the build reaches the package registry by this machine's network.
 */
export class ComposeProject {
  readonly folder: string;
  /** What of the pages has run. */
  readonly done = new Set<string>();

  constructor(
    readonly engine: Engine,
    readonly apiPort: number,
  ) {
    this.folder = join(engine.folder, "upgrade-management");
    const listed = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], { cwd: root });
    for (const name of listed
      .toString()
      .split("\0")
      .filter((name) => name && !/^(test|bench)\//.test(name))) {
      mkdirSync(join(this.folder, dirname(name)), { recursive: true, mode: 0o700 });
      copyFileSync(join(root, name), join(this.folder, name));
      chmodSync(join(this.folder, name), 0o600);
    }
    const { services } = readCompose();
    const changes = Object.entries(services).map(([name, { ports = [], build }]) => {
      const container = ports
        .filter((port) => !port.includes("$"))
        .map((port) => `"127.0.0.1::${port.split(":").at(-1)}"`);
      const published = container.length > 0 ? `, ports: !override [${container.join(", ")}]` : "";
      return `  ${name}: { dns: [${engine.nameServerAddress}]${published}${build ? ", build: { network: host }" : ""} }\n`;
    });
    writeFileSync(join(this.folder, "for-test.yml"), `services:\n${changes.join("")}`);
    writeFileSync(join(this.folder, "config/service.env"), `${limits.join("\n")}\n`);
    this.settings({});
  }

  /** Writes `.env`. */
  settings(settings: Readonly<Record<string, string>>): void {
    const own = { COMPOSE_FILE: "docker-compose.yml:for-test.yml", BUILD_CA_CERTS: ownAuthorities() };
    const all = { ...own, API_PUBLISH: `127.0.0.1:${this.apiPort}`, SIMULATOR_HOST_SECONDS: "2", ...settings };
    const lines = Object.entries(all).map(([name, value]) => `${name}="${value}"\n`);
    writeFileSync(join(this.folder, ".env"), lines.join(""));
  }

  run(command: string): Promise<Said> {
    return this.engine.run(command, this.folder);
  }

  sh(command: string): Promise<string> {
    return this.engine.sh(command, this.folder);
  }

  /** Runs what one of our pages says: the one block, or else the one piece of a line, that has these words. */
  async documented(words: string, { fails = false } = {}): Promise<Said> {
    const having = documentedCommands().filter((command) => command.includes(words));
    const [command] = having.includes(words) ? [words] : having;
    if (command === undefined || (having.length > 1 && command !== words))
      throw new Error(`Our pages have ${having.length} commands with "${words}"`);
    this.done.add(command);
    const said = await this.run(command);
    if (!fails && said.code !== 0)
      throw new Error(`${command}\nended with ${said.code}:\n${said.stdout}${said.stderr}`);
    return said;
  }

  /** The containers, with those that have ended; of one service if it is named. */
  async containers(service?: string): Promise<Container[]> {
    const of = service === undefined ? "" : `--filter label=com.docker.compose.service=${service}`;
    const printed = await this.sh(`docker ps -aq ${of} | xargs -r docker inspect`);
    return printed === "" ? [] : (JSON.parse(printed) as Container[]);
  }

  /** The only container of a service. */
  async container(service: string): Promise<Container> {
    const [container, another] = await this.containers(service);
    if (!container || another) throw new Error(`There is not one container of ${service}`);
    return container;
  }

  /** Where a service has its address in the network of the containers. */
  async address(service: string): Promise<string> {
    const [network] = Object.values((await this.container(service)).NetworkSettings.Networks);
    return network?.IPAddress ?? "";
  }

  secret(name: string): string {
    return readFileSync(join(this.folder, "secrets", name), "utf8");
  }
}

/** Like `eventually`, with pauses that leave the machine to the containers. */
export function unhurried<T>(read: () => Promise<T>, accept: (reading: T) => boolean, limit: number): Promise<T> {
  const later = async () => {
    await pause(400);
    return read();
  };
  return eventually(later, accept, limit);
}

/** The certificates that this machine trusts and Node does not by itself: those of a proxy before the package registry. */
function ownAuthorities(): string {
  const file = process.env["NODE_EXTRA_CA_CERTS"];
  if (!file) return "";
  const known = new Set(rootCertificates.map((certificate) => new X509Certificate(certificate).fingerprint256));
  const all = readFileSync(file, "utf8").match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  return all.filter((certificate) => !known.has(new X509Certificate(certificate).fingerprint256)).join("\n");
}

/** All that our pages say to do with `docker` and deploy/compose: whole blocks of shell, and pieces of lines. */
export function documentedCommands(): string[] {
  const commands = pages.flatMap((page) => {
    const text = readFileSync(join(root, page), "utf8");
    const blocks = [...text.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, block = ""]) => block.trim());
    const pieces = [...text.replace(/^```[\s\S]*?^```$/gm, "").matchAll(/`(docker [^`]+)`/g)].map(
      ([, one = ""]) => one,
    );
    return [...blocks.filter((block) => /\bdocker\b|deploy\/compose/.test(block)), ...pieces];
  });
  return [...new Set(commands)];
}
