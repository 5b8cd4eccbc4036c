import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import type { TokenPair } from "../../../src/authentication/authentication";
import { hashPassword } from "../../../src/authentication/users";
import { ServiceUnderTest } from "../../support/service/service-under-test";
import { type Phase, phases, runSchemathesis } from "./run-schemathesis";

/** What each phase has for itself, in seconds: none can take another's share. */
const seconds: Readonly<Record<Phase, number>> = { examples: 10, coverage: 40, fuzzing: 20, stateful: 25 };

/** A service in one of its ways, and a token for it. */
type Way = (folder: string) => Promise<{ readonly service: ServiceUnderTest; readonly token: string }>;

const ways: Readonly<Record<string, Way>> = {
  "with AUTH_MODE=dev, as npm start begins": async () => ({ service: await ServiceUnderTest.start(), token: "dev" }),

  "with AUTH_MODE=local and a token, without which nothing is had": async (folder) => {
    const password = "correct horse battery staple";
    const files = { users: join(folder, "users.yaml"), key: join(folder, "key.txt"), revoked: join(folder, "revoked") };
    writeFileSync(
      files.users,
      `users:\n  - username: admin\n    role: ADMIN\n    password: ${await hashPassword(password)}\n`,
      { mode: 0o600 },
    );
    writeFileSync(files.key, "k".repeat(64), { mode: 0o600 });
    const service = await ServiceUnderTest.start({
      AUTH_MODE: "local",
      AUTH_USERS_FILE: files.users,
      AUTH_SIGNING_KEY_FILE: files.key,
      AUTH_REVOKED_DIR: files.revoked,
    });
    const { body } = await service.post<TokenPair>("/v1/tokens", { username: "admin", password });
    return { service, token: body.accessToken };
  },
};

for (const [way, start] of Object.entries(ways))
  describe(`the service against its own /openapi.json, by Schemathesis, ${way}`, function () {
    this.timeout(240_000);
    const folder = mkdtempSync(join(tmpdir(), "schemathesis-"));
    let service: ServiceUnderTest | undefined;
    let token = "";

    before(async () => ({ service, token } = await start(folder)));
    after(async () => {
      await service?.discard();
      rmSync(folder, { recursive: true, force: true });
    });

    for (const phase of phases)
      it(`has nothing to find for the phase ${phase}`, async () => {
        const url = service?.apiUrl ?? "";
        const { findings, cases } = await runSchemathesis({ url, token, folder, phase, seconds: seconds[phase] });
        process.stdout.write(`        ${phase}: ${cases} requests\n`);
        expect(findings).to.equal("");
        expect(cases, "requests").to.be.above(0);
      });
  });
