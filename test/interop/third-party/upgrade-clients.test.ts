import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { hashPassword } from "../../../src/authentication/users";
import { ServiceUnderTest } from "../../support/service/service-under-test";
import { runVendorClient } from "./run-vendor-client";
import { startTranslatingProxy, type TranslatingProxy } from "./translating-proxy";

const bundle = "7d1c1f6e-3a52-4f0e-9c11-5c0a90010001";
const cluster = (number: string) => `4a6c1a1e-51b2-4d3c-9e0f-0000000000${number}`;
const password = "correct horse battery staple";

// docs/clients.md says what was tried beside this by hand, and what clients cannot do.
describe("the vendor's own client of such a service against this one", function () {
  this.timeout(150_000);
  let folder: string;
  let service: ServiceUnderTest | undefined;
  let proxy: TranslatingProxy | undefined;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "upgrade-clients-"));
  });
  afterEach(async () => {
    await proxy?.close();
    await service?.discard();
    rmSync(folder, { recursive: true, force: true });
  });

  async function localMode(): Promise<Record<string, string>> {
    const [users, key] = [join(folder, "users.yaml"), join(folder, "key.txt")];
    const hash = await hashPassword(password);
    writeFileSync(users, `users:\n  - { username: alice, role: OPERATOR, password: "${hash}" }\n`, { mode: 0o600 });
    writeFileSync(key, "0123456789".repeat(5), { mode: 0o600 });
    return { AUTH_MODE: "local", AUTH_USERS_FILE: users, AUTH_SIGNING_KEY_FILE: key };
  }

  for (const [mode, variables, stranger] of [
    ["dev", () => Promise.resolve({}), null],
    ["local", localMode, "Unauthorized"],
  ] as const) {
    it(`logs in, upgrades, retries and cancels in mode ${mode}`, async () => {
      service = await ServiceUnderTest.start(await variables());
      proxy = await startTranslatingProxy(service.apiUrl);
      await service.fault({ kind: "REMEDIATION_FAILS", cluster: "fra1-mgmt-cl01", times: 1, message: "disk full" });
      const clusters = [cluster("47"), cluster("34"), cluster("21")];
      expect(await runVendorClient("upgrades.py", proxy.url, "alice", password, bundle, ...clusters)).to.deep.equal({
        bundle: ["VMWARE_SOFTWARE"],
        clusters: {
          "fra1-prod-cl01": "Frankfurt 1",
          "fra1-prod-cl02": "Frankfurt 1",
          "fra1-mgmt-cl01": "Frankfurt 1",
          "ams1-edge-cl01": "Amsterdam 1",
        },
        hosts: 3,
        unknown: ["TASK_NOT_FOUND", "UPGRADE_NOT_FOUND"],
        refused: "MISSING_FIELD",
        prechecks: ["Successful", true],
        committed: true,
        upgraded: ["Successful", true, true],
        tooLate: ["REQUEST_NOT_POSSIBLE", "REQUEST_NOT_POSSIBLE"],
        failed: ["Failed", true, "UNRESOLVED", "HOST_REMEDIATION_FAILED"],
        retried: ["Successful", "RESOLVED"],
        cancelled: ["Cancelled", "Cancelled"],
        listed: [true, 2],
        tasks: 2,
        stranger,
      });
    });
  }
});
