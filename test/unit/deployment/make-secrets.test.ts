import { execFileSync } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect } from "chai";
import * as E from "fp-ts/Either";
import { shortestKey } from "../../../src/authentication/tokens";
import { isPassword, parsePasswordHash, usersOfFile } from "../../../src/authentication/users";
import { loadPayloadKeys } from "../../../src/commands/payload-keys";

const root = resolve(__dirname, "../../..");

describe("deploy/compose/make-secrets.sh", function () {
  this.timeout(60_000);
  const folder = mkdtempSync(join(tmpdir(), "ums-secrets-"));
  const secrets = join(folder, "secrets");
  const make = () =>
    execFileSync("sh", [join(root, "deploy/compose/make-secrets.sh"), "ums.example.com"], {
      cwd: root,
      encoding: "utf8",
      env: {
        ...process.env,
        SECRETS: secrets,
        HASH_PASSWORD: `${process.execPath} --import tsx src/main.ts hash-password`,
      },
    });
  const read = (name: string) => readFileSync(join(secrets, name), "utf8");
  const all = () => ["", "api"].flatMap((sub) => readdirSync(join(secrets, sub)).map((name) => join(sub, name)));
  const contents = () =>
    all()
      .filter((name) => statSync(join(secrets, name)).isFile())
      .map((name) => [name, read(name)] as const);
  let said: string;

  before(() => (said = make()));
  after(() => rmSync(folder, { recursive: true, force: true }));

  it("makes what docker-compose.yml reads, as the service takes it", () => {
    expect(all()).to.have.members([
      ...["postgres-password", "payload-keys.yaml", "admin-password", "api", "operator"],
      ...["tls.crt", "tls.key", "users.yaml", "signing-key"].map((name) => join("api", name)),
    ]);
    expect(loadPayloadKeys(join(secrets, "payload-keys.yaml"))).to.have.lengthOf(1);
    expect(read("api/signing-key").trim().length).to.be.at.least(shortestKey);
    const { subjectAltName } = new X509Certificate(read("api/tls.crt"));
    expect(subjectAltName).to.equal("DNS:localhost, IP Address:127.0.0.1, DNS:ums.example.com");
    const users = usersOfFile(join(secrets, "api/users.yaml"), () => undefined);
    expect(E.isRight(users)).to.equal(true);
  });

  it("has a first user whose password is in no other file", async () => {
    const password = read("admin-password").trim();
    const hash = parsePasswordHash(/password: (\S+)/.exec(read("api/users.yaml"))?.[1] ?? "");
    expect(hash !== undefined && (await isPassword(password, hash))).to.equal(true);
    for (const [name, content] of contents()) if (name !== "admin-password") expect(content).not.to.contain(password);
  });

  it("lets nobody else through the folder, and the containers read the files", () => {
    expect(statSync(secrets).mode & 0o777).to.equal(0o700);
    for (const [name] of contents()) expect(statSync(join(secrets, name)).mode & 0o777, name).to.equal(0o444);
    for (const name of ["api", "operator"]) expect(statSync(join(secrets, name)).mode & 0o777, name).to.equal(0o755);
  });

  it("prints no secret, and leaves alone what is there", () => {
    const before = contents();
    const words = before.flatMap(([, content]) => content.split(/\s+/)).filter((word) => word.length > 15);
    for (const word of words) expect(said).not.to.contain(word);
    expect(words.length).to.be.greaterThan(8);
    expect(make()).to.equal("");
    expect(contents()).to.deep.equal(before);
  });
});
