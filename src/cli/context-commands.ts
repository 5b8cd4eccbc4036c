import { text } from "node:stream/consumers";
import { isCancel, password, text as question } from "@clack/prompts";
import * as t from "io-ts";
import { model } from "../domain/codec";
import { interruption } from "./api-client";
import type { AddCommand, CommandContext } from "./command-context";
import { configPath, readLogin, removeLogin, writeLogin } from "./config-file";
import type { Environment } from "./environment";
import { exitCode, type ExitCode, wrongUsage } from "./errors";

interface LoginOptions {
  readonly username?: string;
  readonly passwordStdin?: true;
  readonly tokenStdin?: true;
}

/** The answer of `POST /v1/tokens` (docs/authentication.md). */
const TokenPair = model({ accessToken: t.string, refreshToken: model({ id: t.string }, {}) }, {});

/** `login` and `logout`. */
export function addLoginCommands(add: AddCommand): void {
  add("login", "Keep a server's address and tokens for the commands to come", [
    "upgradectl login --server https://upgrades.example.com --username alice",
    "upgradectl login --username alice --password-stdin < password.txt",
    "upgradectl login --token-stdin < token.txt",
  ])
    .option("-u, --username <name>", "who logs in; asked for where it is missing")
    .option("--password-stdin", "read the password from the standard input")
    .option("--token-stdin", "keep this token of your identity provider; no password is asked for")
    .action(add.run(login));
  add("logout", "Revoke the refresh token and forget the login", ["upgradectl logout"]).action(add.run(logout));
}

async function login(context: CommandContext, options: LoginOptions): Promise<ExitCode> {
  const { client, environment } = context;
  const path = configPath(environment);
  const { server } = client;
  if (options.tokenStdin) {
    writeLogin(path, { server, accessToken: await secretFrom(environment, "token") });
  } else {
    const username = options.username ?? (await ask(environment, "--username", () => question(prompt("User name"))));
    const secret = options.passwordStdin
      ? await secretFrom(environment, "password")
      : await ask(environment, "--password-stdin", () => password(prompt("Password")));
    const body = { username, password: secret };
    const { accessToken, refreshToken } = await client.request("POST", "/v1/tokens", TokenPair, { body });
    writeLogin(path, { server, accessToken, refreshToken: refreshToken.id });
  }
  context.print({ server, config: path }, () => []);
  context.say(`Logged in to ${server}; the tokens are in ${path}.`);
  return exitCode.successful;
}

async function logout(context: CommandContext): Promise<ExitCode> {
  const path = configPath(context.environment);
  const login = readLogin(path);
  // The file goes first: what cannot be revoked for now must not stay on disk.
  removeLogin(path);
  if (login?.refreshToken !== undefined && login.server === context.client.server)
    await context.client.open("DELETE", "/v1/tokens/refresh-token", { body: login.refreshToken });
  context.print({ config: path }, () => []);
  context.say(login ? `Logged out of ${login.server}.` : "There was no login.");
  return exitCode.successful;
}

async function secretFrom({ stdin }: Environment, what: string): Promise<string> {
  const secret = (await text(stdin)).replace(/\r?\n$/, "");
  if (secret === "") throw wrongUsage(`The standard input holds no ${what}.`, `Pipe the ${what} into the command.`);
  return secret;
}

/** The prompts stand on the standard error, so that the standard output holds results only. */
function prompt(message: string) {
  return { message, output: process.stderr };
}

async function ask({ stdin }: Environment, option: string, answer: () => Promise<string | symbol>): Promise<string> {
  if (stdin.isTTY !== true) throw wrongUsage("There is no terminal to ask in.", `Give ${option}.`);
  const given = await answer();
  if (isCancel(given) || typeof given !== "string") throw interruption();
  return given;
}
