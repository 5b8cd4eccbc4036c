import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import * as E from "fp-ts/Either";
import { hashPassword } from "../../../src/authentication/users";
import { loadAuthentication } from "../../../src/commands/authentication";
import { readConfig } from "../../../src/config";
import { StartupError } from "../../../src/startup-error";

describe("the authentication of an API process", () => {
  const folder = mkdtempSync(join(tmpdir(), "authentication-"));
  const [usersFile, keyFile] = [join(folder, "users.yaml"), join(folder, "key")];
  const key = "0123456789abcdef0123456789abcdef";
  before(async () => {
    const users = [{ username: "alice", role: "ADMIN", password: await hashPassword("a password of alice") }];
    writeFileSync(usersFile, JSON.stringify({ users }));
    writeFileSync(keyFile, `${key}\n`);
  });
  after(() => rmSync(folder, { recursive: true }));

  function load(environment: Readonly<Record<string, string>>) {
    const config = readConfig({ AUTH_REVOKED_DIR: join(folder, "revoked"), ...environment });
    if (E.isLeft(config)) throw new Error(config.left.join("\n"));
    return loadAuthentication(config.right.authentication, () => undefined);
  }

  async function refusal(environment: Readonly<Record<string, string>>): Promise<string> {
    try {
      await load(environment);
    } catch (error) {
      if (error instanceof StartupError) return error.message;
      throw error;
    }
    throw new Error("It has started");
  }

  const local = (more: Readonly<Record<string, string>> = {}) => ({
    AUTH_MODE: "local",
    AUTH_USERS_FILE: usersFile,
    ...more,
  });

  it("is dev by default, and the mode that is named where it has what it needs", async () => {
    expect((await load({})).mode).to.equal("dev");
    expect((await load(local({ AUTH_SIGNING_KEY_FILE: keyFile }))).mode).to.equal("local");
    expect((await load(local({ AUTH_SIGNING_KEY: key }))).mode).to.equal("local");
    const oidc = { AUTH_MODE: "oidc", OIDC_ISSUER: "https://login.example.com", OIDC_AUDIENCE: "upgrades" };
    expect((await load(oidc)).mode).to.equal("oidc");
  });

  it("signs alike by a key in a file and in the variable, so that processes may be told of it either way", async () => {
    const [byFile, byVariable] = await Promise.all([
      load(local({ AUTH_SIGNING_KEY_FILE: keyFile })),
      load(local({ AUTH_SIGNING_KEY: key })),
    ]);
    const login = { username: "alice", password: "a password of alice", address: "192.0.2.1" };
    const pair = await byFile.tokens.issue(login)();
    if (E.isLeft(pair)) throw new Error(pair.left._tag);
    const { accessToken, refreshToken } = pair.right;
    expect(E.isRight(await byVariable.authenticate(`Bearer ${accessToken}`, "READ")())).to.equal(true);
    expect(E.isRight(await byVariable.tokens.refresh(refreshToken.id)())).to.equal(true);
  });

  it("does not start without a key, with one that is too short, or one that cannot be read; shows no key", async () => {
    expect(await refusal(local()))
      .to.contain("AUTH_SIGNING_KEY_FILE")
      .and.contain("docs/authentication.md");
    const short = await refusal(local({ AUTH_SIGNING_KEY: "much-too-short" }));
    expect(short).to.contain("AUTH_SIGNING_KEY").and.contain("32").and.not.contain("much-too-short");
    expect(await refusal(local({ AUTH_SIGNING_KEY_FILE: "/nowhere/key" }))).to.contain("/nowhere/key");
  });

  it("does not start without users, or a folder for revocations that it can write", async () => {
    const { AUTH_USERS_FILE: _, ...noUsers } = local({ AUTH_SIGNING_KEY: key });
    expect(await refusal(noUsers))
      .to.contain("AUTH_USERS_FILE")
      .and.contain("docs/authentication.md");
    expect(await refusal(local({ AUTH_SIGNING_KEY: key, AUTH_USERS_FILE: keyFile }))).to.contain("a list named users");
    expect(await refusal(local({ AUTH_SIGNING_KEY: key, AUTH_REVOKED_DIR: keyFile }))).to.contain("AUTH_REVOKED_DIR");
  });

  it("does not start without the issuer and the audience of oidc", async () => {
    expect(await refusal({ AUTH_MODE: "oidc" })).to.contain("OIDC_ISSUER and OIDC_AUDIENCE");
    expect(await refusal({ AUTH_MODE: "oidc", OIDC_ISSUER: "https://login.example.com" })).to.contain("OIDC_AUDIENCE");
  });
});
