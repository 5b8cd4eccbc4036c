import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { testAuthority } from "../../support/certificates";
import { AttackedService } from "./attacked-service";

/** How the attacked service is run, beside that it encrypts what it stores, so that it has the codec's routes too. */
interface Way {
  readonly tls?: boolean;
}

/**
 * Starts the service for a suite. After each test it must be alive, after the last one it must have given back what
 * it held, and its log must tell of no failure of its own.
 */
export function useAttackedService(what: string, { tls = false }: Way = {}): () => AttackedService {
  let started: AttackedService | undefined;
  const folder = mkdtempSync(join(tmpdir(), "ums-fuzz-"));
  const service = () => {
    if (!started) throw new Error("The service is there from the before hooks on");
    return started;
  };
  const file = (name: string, content: string) => {
    writeFileSync(join(folder, name), content, { mode: 0o600 });
    return join(folder, name);
  };
  before(async () => {
    const key = randomBytes(32).toString("base64");
    const variables = { PAYLOAD_KEYS_FILE: file("keys.yaml", `keys:\n  - id: fuzz\n    key: ${key}\n`) };
    if (!tls) started = await AttackedService.start(variables);
    else {
      const authority = await testAuthority("authority of the attacked service");
      const own = await authority.issue("localhost");
      const files = { API_TLS_CERT_FILE: file("cert.pem", own.cert), API_TLS_KEY_FILE: file("key.pem", own.key) };
      started = await AttackedService.start({ ...variables, ...files }, authority.cert);
    }
    await started.warmUp();
  });
  afterEach(() => service().expectAlive());
  after(async () => {
    try {
      await started?.expectSettled(what);
      expect(started?.failures()).to.deep.equal([]);
    } finally {
      await started?.discard();
      rmSync(folder, { recursive: true });
    }
  });
  return service;
}
