import { join, relative } from "node:path";
import Table from "cli-table3";
import { type Config, projectRoot } from "../config";
import { oneLine, StartupError } from "../startup-error";
import { findTemporalCli } from "../temporal/find-temporal-cli";
import { checkPorts, type WantedPort } from "./check-ports";
import { claimDataDir } from "./data-dir";
import { type Ready, type RoleName, roleNames, roleStages } from "./messages";
import { checkOperatorFiles } from "./operator-files";
import { RoleProcess } from "./role-process";

/** Two signals within this time are one: npm passes on the Ctrl-C that the terminal has already given to all. */
const sameSignalMilliseconds = 1_000;
/** How long ports of a killed predecessor may take to be free. */
const predecessorMilliseconds = 12_000;

/**
 * Runs the whole service, each role as a process of its own, until a signal. Resolves to the exit code: 0 after a stop,
 * 1 where something cannot start (told in one line), 130 where a second signal cut the stop short.
 *
 * @param program the arguments that make Node run `main`, without the role
 * @param foundCli the Temporal CLI, where it has been looked for already
 */
export async function start(config: Config, program: readonly string[], foundCli?: string): Promise<number> {
  const say = (line: string) => console.error(line);
  const stop = stopRequest();
  let insisted = false;
  try {
    checkOperatorFiles(config);
    await checkAuthentication(config.authentication, say);
    const claim = claimDataDir(config.dataDir);
    const roles = new Map<RoleName, RoleProcess>();
    try {
      await checkPorts(wantedPorts(config), claim.predecessorWasKilled ? predecessorMilliseconds : 0);
      const cli = config.temporal.embedded ? (foundCli ?? (await temporalCli(config, say, stop.signal))) : undefined;
      const commands = roleCommands(program, cli);
      const onChange = () => {
        const ids = [...roles.values()].flatMap((role) => Object.entries(role.processes));
        claim.writeProcesses({ supervisor: process.pid, ...Object.fromEntries(ids) });
      };
      // Loading a program takes most of the time that a role needs: all do it at once.
      for (const role of roleNames) {
        const command = commands[role];
        if (!command || stop.signal.aborted) continue;
        roles.set(role, new RoleProcess({ role, command, dataDir: config.dataDir, say, onChange }));
        onChange();
      }
      const up = await beginAll(roles, stop.requested);
      if (!stop.signal.aborted) {
        console.log(welcome(config, up, cli));
        await stop.requested;
      }
    } finally {
      if (stop.signal.aborted) say("Stopping");
      insisted = (await Promise.race([stopAll([...roles.values()].reverse()), stop.insisted])) === "insisted";
      if (insisted) for (const role of roles.values()) role.kill();
      claim.release();
    }
    return insisted ? 130 : 0;
  } catch (thrown) {
    if (stop.signal.aborted && !(thrown instanceof StartupError)) return 0;
    say(oneLine(thrown));
    return 1;
  }
}

/** Throws what is wrong with the authentication; the mode for development lacks nothing, so its packages are not loaded. */
async function checkAuthentication(config: Config["authentication"], say: (line: string) => void): Promise<void> {
  if (config.mode === "dev") return;
  const { loadAuthentication } = await import("./authentication.js");
  await loadAuthentication(config, say);
}

/**
 * Lets the roles begin, a stage side by side once the one before is ready; what each of them says of itself. Where
 * several cannot start it throws the failure of the first, in the order of {@link roleNames}.
 */
async function beginAll(
  roles: ReadonlyMap<RoleName, RoleProcess>,
  stopped: Promise<undefined>,
): Promise<ReadonlyMap<RoleName, Ready>> {
  const up = new Map<RoleName, Ready>();
  for (const stage of roleStages) {
    const begun = stage.map((role) => ({ role, ready: roles.get(role)?.begin() }));
    for (const { ready } of begun) ready?.catch(() => undefined);
    for (const { role, ready } of begun) {
      if (!ready) continue;
      const said = await Promise.race([ready, stopped]);
      if (!said) return up;
      up.set(role, said);
    }
  }
  return up;
}

async function stopAll(roles: readonly RoleProcess[]): Promise<void> {
  for (const role of roles) await role.stop();
}

/** The ports that the service itself is going to listen on. */
function wantedPorts({ api, simulator, temporal }: Config): WantedPort[] {
  const host = "127.0.0.1";
  return [
    { host: api.host, port: api.port, variable: "API_PORT" },
    { host: simulator.host, port: simulator.port, variable: "SIMULATOR_PORT" },
    ...(temporal.embedded
      ? [
          { host, port: temporal.port, variable: "TEMPORAL_PORT" },
          { host, port: temporal.uiPort, variable: "TEMPORAL_UI_PORT" },
        ]
      : []),
  ];
}

function temporalCli({ temporal, cacheDir, environment }: Config, say: (line: string) => void, signal: AbortSignal) {
  const downloadScript = join(projectRoot, "scripts", "download-temporal-cli.mjs");
  return findTemporalCli({ cliPath: temporal.cliPath, cacheDir, environment, downloadScript, say, signal });
}

/** With a Temporal CLI, the embedded server is one of the roles. */
function roleCommands(
  program: readonly string[],
  cli: string | undefined,
): Partial<Record<RoleName, readonly string[]>> {
  return {
    ...(cli !== undefined && { temporal: [...program, "temporal", cli] }),
    simulator: [...program, "simulator"],
    worker: [...program, "worker"],
    api: [...program, "api"],
  };
}

function stopRequest() {
  const controller = new AbortController();
  let request = (): void => undefined;
  let insist = (_: "insisted"): void => undefined;
  const requested = new Promise<undefined>((resolve) => (request = () => resolve(undefined)));
  const insisted = new Promise<"insisted">((resolve) => (insist = resolve));
  let first: number | undefined;
  const onSignal = () => {
    if (first === undefined) {
      first = Date.now();
      controller.abort();
      request();
    } else if (Date.now() - first > sameSignalMilliseconds) insist("insisted");
  };
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(name, onSignal);
  return { signal: controller.signal, requested, insisted };
}

/** What is shown when all is up. The last line is what scripts wait for. */
function welcome(config: Config, up: ReadonlyMap<RoleName, Ready>, cli: string | undefined): string {
  const api = up.get("api")?.url ?? `${config.api.tls ? "https" : "http"}://${config.api.host}:${config.api.port}`;
  const table = new Table({ style: { head: [], border: [] } });
  const temporalUi = config.temporal.embedded ? up.get("temporal")?.url : undefined;
  table.push(
    ["API", `${api}/v1/upgrades`],
    ["Console", `${api}/`],
    ["Documents", `${api}/docs`],
    ["API reference", `${api}/docs/api`],
    ...(temporalUi ? [["Temporal Web UI", temporalUi]] : []),
    ["Temporal", config.temporal.address],
    ...(cli === undefined ? [] : [["Temporal CLI", cli]]),
    ["Component manager simulator", up.get("simulator")?.url ?? ""],
    ["Logs", join(relative(process.cwd(), config.dataDir) || ".", "logs")],
  );
  const token = config.authentication.mode === "dev" ? "dev" : "TOKEN";
  return [
    table.toString(),
    ...(token === "dev" ? [] : ["How to get a TOKEN:", "  docs/authentication.md"]),
    "Start an upgrade as a draft:",
    `  curl -s ${api}/v1/upgrades -H 'Authorization: Bearer ${token}' -H 'Content-Type: application/json' -d @examples/cluster-draft.json`,
    ...(cli === undefined
      ? []
      : ["Commit it:", `  ${cli} workflow signal${addressOption(config)} --workflow-id ID --name commit`]),
    "ready",
  ].join("\n");
}

/** The CLI's own default is left out. */
function addressOption({ temporal }: Config): string {
  return temporal.port === 7233 ? "" : ` --address ${temporal.address}`;
}
