import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { revokedTokens } from "../../../src/authentication/tokens";

const [first, second] = ["6f1f2a58-7f0a-4b7e-9d53-2c1f6a0c8e11", "0b7f7c5e-3f0e-4a0c-8a64-0d0c6f9d8a12"];

describe("revoked tokens", () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "revoked-"))));
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it("are known to every process that sees the folder, at once", async () => {
    const [one, other] = [
      await revokedTokens(join(folder, "a", "b"), 24),
      await revokedTokens(join(folder, "a", "b"), 24),
    ];
    await one.revoke(first);
    await one.revoke(first);
    expect([await other.has(first), await other.has(second)]).to.deep.equal([true, false]);
  });

  it("are forgotten when their tokens have expired, and not before", async () => {
    for (const id of [first, second]) writeFileSync(join(folder, id), "");
    const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000);
    utimesSync(join(folder, first), hoursAgo(25), hoursAgo(25));
    utimesSync(join(folder, second), hoursAgo(23), hoursAgo(23));
    await revokedTokens(folder, 24);
    expect(readdirSync(folder)).to.deep.equal([second]);
  });

  it("fail rather than say that a token is good where the folder cannot be looked into", async () => {
    const revoked = await revokedTokens(join(folder, "inner"), 24);
    rmSync(join(folder, "inner"), { recursive: true });
    writeFileSync(join(folder, "inner"), "a file where the folder was");
    const outcome = await revoked.has(first).then(
      () => "an answer",
      (error: unknown) => String(error),
    );
    expect(outcome).to.contain("ENOTDIR");
  });
});
