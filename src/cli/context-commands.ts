import { text } from "node:stream/consumers";
import { isCancel, password, text as question } from "@clack/prompts";
import * as t from "io-ts";
import { model } from "../domain/codec";
import { baseUrl, interruption } from "./api-client";
import type { AddCommand, CommandContext } from "./command-context";
import type { StoredContext } from "./config-file";
import type { Environment } from "./environment";
import { exitCode, type ExitCode, wrongUsage } from "./errors";
import { plain, table } from "./text";

interface LoginOptions {
  readonly username?: string;
  readonly passwordStdin?: true;
  readonly tokenStdin?: true;
}

/** The answer of `POST /v1/tokens` (docs/authentication.md). */
const TokenPair = model({ accessToken: t.string, refreshToken: model({ id: t.string }, {}) }, {});

interface ContextOptions {
  readonly remove?: true;
}

/** `login`, `logout` and `context`: which services there are, and who the user is there. */
export function addContextCommands(add: AddCommand): void {
  add("login", "Log in to a server and store its address and tokens", [
    "upgradectl login --server https://upgrades.example.com --username alice",
    "upgradectl login --context prod --server https://upgrades.example.com --zone Europe/Berlin",
    "upgradectl login --username alice --password-stdin < password.txt",
    "upgradectl login --token-stdin < token.txt",
  ])
    .option("-u, --username <name>", "user name; prompted for if missing")
    .option("--password-stdin", "read the password from standard input")
    .option("--token-stdin", "read a token of your identity provider from standard input instead of a password")
    .action(add.run(login));
  add("logout", "Revoke the refresh token and remove the login", ["upgradectl logout"]).action(add.run(logout));
  add("context", "List contexts, or switch to one and change its address or time zone", [
    "upgradectl context",
    "upgradectl context prod",
    "upgradectl context prod --server https://upgrades.example.com --zone Europe/Berlin",
    "upgradectl context prod --remove",
  ])
    .argument("[name]", "one context")
    .option("--remove", "remove it with its tokens")
    .action(
      add.runWithName((command, name, options: ContextOptions) => Promise.resolve(context(command, name, options))),
    );
}

async function login(context: CommandContext, options: LoginOptions): Promise<ExitCode> {
  const { contexts, environment, zoneOption } = context;
  const { path, name, chosen } = contexts;
  const client = context.connect();
  const { server } = client;
  const zone = zoneOption ?? chosen?.zone;
  const keep = (tokens: Pick<StoredContext, "accessToken" | "refreshToken">) =>
    contexts.keep(name, { server, ...(zone !== undefined && { zone }), ...tokens }, { use: true });
  if (options.tokenStdin) {
    keep({ accessToken: await secretFrom(environment, "token") });
  } else {
    const username = options.username ?? (await ask(environment, "--username", () => question(prompt("User name"))));
    const secret = options.passwordStdin
      ? await secretFrom(environment, "password")
      : await ask(environment, "--password-stdin", () => password(prompt("Password")));
    const body = { username, password: secret };
    const { accessToken, refreshToken } = await client.request("POST", "/v1/tokens", TokenPair, { body });
    keep({ accessToken, refreshToken: refreshToken.id });
  }
  context.print({ server, context: name, config: path }, () => []);
  context.say(`Logged in to ${server} as context ${name}; the tokens are in ${path}.`);
  return exitCode.successful;
}

async function logout(context: CommandContext): Promise<ExitCode> {
  const { contexts } = context;
  const { path, name, chosen } = contexts;
  const client = context.connect();
  const isLoggedIn = chosen?.accessToken !== undefined;
  // The tokens go first: what cannot be revoked for now must not stay on disk.
  if (chosen && isLoggedIn) {
    const { accessToken: _access, refreshToken: _refresh, ...rest } = chosen;
    contexts.keep(name, rest);
  }
  if (chosen?.refreshToken !== undefined && chosen.server === client.server)
    await client.open("DELETE", "/v1/tokens/refresh-token", { body: chosen.refreshToken });
  context.print({ context: name, config: path }, () => []);
  context.say(isLoggedIn ? `Logged out of ${chosen.server}.` : "Not logged in.");
  return exitCode.successful;
}

function context(command: CommandContext, name: string | undefined, { remove }: ContextOptions): ExitCode {
  const { contexts, zoneOption, serverOption } = command;
  if (name === undefined) {
    if (remove)
      throw wrongUsage("--remove needs the name of a context.", "Give a name that `upgradectl context` lists.");
    return listContexts(command);
  }
  const known = contexts.all.get(name);
  if (!known && (remove || serverOption === undefined)) throw contexts.unknown(name);
  if (remove) {
    contexts.remove(name);
    command.say(`Context ${name} removed.`);
    return exitCode.successful;
  }
  const server = serverOption === undefined ? known?.server : baseUrl(serverOption);
  if (server === undefined) throw contexts.unknown(name);
  // Tokens are of the server that gave them.
  const tokens = known?.server === server ? known : {};
  const zone = zoneOption ?? known?.zone;
  contexts.keep(name, { ...tokens, server, ...(zone !== undefined && { zone }) }, { use: true });
  command.say(`The current context is ${name}: ${server}.`);
  return exitCode.successful;
}

/** Without tokens, which are never printed. */
function listContexts(command: CommandContext): ExitCode {
  const { contexts } = command;
  const all = [...contexts.all].map(([name, { server, zone, accessToken }]) => ({
    name,
    server,
    ...(zone !== undefined && { zone }),
    isLoggedIn: accessToken !== undefined,
    isCurrent: name === contexts.current,
  }));
  command.print({ elements: all }, () =>
    table(
      ["CURRENT", "NAME", "SERVER", "ZONE", "LOGIN"],
      all.map(({ name, server, zone, isLoggedIn, isCurrent }) => [
        isCurrent ? "*" : "",
        plain(name),
        plain(server),
        plain(zone),
        isLoggedIn ? "yes" : "no",
      ]),
      { columns: command.columns, elastic: ["SERVER"] },
    ),
  );
  if (all.length === 0) command.say("No contexts. Next: `upgradectl login --server URL`.");
  return exitCode.successful;
}

async function secretFrom({ stdin }: Environment, what: string): Promise<string> {
  const secret = (await text(stdin)).replace(/\r?\n$/, "");
  if (secret === "") throw wrongUsage(`Standard input is empty: no ${what}.`, `Pipe the ${what} into the command.`);
  return secret;
}

/** The prompts stand on the standard error, so that the standard output holds results only. */
function prompt(message: string) {
  return { message, output: process.stderr };
}

async function ask({ stdin }: Environment, option: string, answer: () => Promise<string | symbol>): Promise<string> {
  if (stdin.isTTY !== true) throw wrongUsage("There is no terminal to prompt in.", `Give ${option}.`);
  const given = await answer();
  if (isCancel(given) || typeof given !== "string") throw interruption();
  return given;
}
