import { createSecretKey, randomBytes } from "node:crypto";
import type { Payload } from "@temporalio/common";
import { expect } from "chai";
import * as fc from "fast-check";
import { PayloadEncryption, type PayloadKey, PayloadKeyError } from "../../../src/temporal/payload-encryption";
import { readError, writeError } from "../../../src/temporal/temporal-error";

const key = (id: string): PayloadKey => ({ id, key: createSecretKey(randomBytes(32)) });
const [old, recent] = [key("2025-01"), key("2026-01")];

const bytes = fc.uint8Array({ maxLength: 300 });
const payloads: fc.Arbitrary<Payload[]> = fc.array(
  fc.record({ metadata: fc.dictionary(fc.stringMatching(/^[a-z-]{1,9}$/), bytes), data: bytes }),
  { maxLength: 3 },
);

/** What a payload holds, whatever classes its bytes are of. */
const contentOf = ({ metadata, data }: Payload) => ({
  metadata: Object.entries(metadata ?? {})
    .map(([name, value]) => [name, Buffer.from(value).toString("hex")])
    .sort(),
  data: Buffer.from(data ?? []).toString("hex"),
});

async function failureOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error: unknown) => error,
  );
}

describe("PayloadEncryption", () => {
  const plain: Payload = { metadata: { encoding: Buffer.from("json/plain") }, data: Buffer.from('"esx-07"') };

  it("gives back what was encrypted, also with other keys before or after", async () => {
    const writer = new PayloadEncryption([old]);
    await fc.assert(
      fc.asyncProperty(payloads, async (given) => {
        const stored = await writer.encode(given);
        for (const keys of [[old], [recent, old], [old, recent]]) {
          const read = await new PayloadEncryption(keys).decode(stored);
          expect(read.map(contentOf)).to.deep.equal(given.map(contentOf));
        }
      }),
    );
  });

  it("encrypts with the first key, whose name is all that can be seen", async () => {
    const [stored] = await new PayloadEncryption([recent, old]).encode([plain]);
    const metadata = Object.entries(stored?.metadata ?? {}).map(([name, value]) => [name, String(value)]);
    expect(metadata).to.deep.equal([
      ["encoding", "binary/encrypted"],
      ["encryption-key-id", "2026-01"],
    ]);
    expect(Buffer.from(stored?.data ?? []).toString("latin1"))
      .to.not.contain("esx-07")
      .and.not.contain("json");
  });

  it("never writes the same twice", async () => {
    const codec = new PayloadEncryption([recent]);
    const [one, other] = await codec.encode([plain, plain]);
    expect(one?.data).to.not.deep.equal(other?.data);
  });

  it("leaves payloads plain without keys, and reads plain ones with keys", async () => {
    expect(await new PayloadEncryption([]).encode([plain])).to.deep.equal([plain]);
    expect(await new PayloadEncryption([recent]).decode([plain])).to.deep.equal([plain]);
  });

  it("passes on what claims to be encrypted and names no key: a Signal that anybody may send must not block", async () => {
    const claimed: Payload = { metadata: { encoding: Buffer.from("binary/encrypted") }, data: Buffer.from("x") };
    for (const keys of [[], [recent]])
      expect(await new PayloadEncryption(keys).decode([claimed])).to.deep.equal([claimed]);
  });

  it("names the key that is missing, or that is another one", async () => {
    const stored = await new PayloadEncryption([old]).encode([plain]);
    for (const keys of [[], [recent]]) {
      const error = await failureOf(new PayloadEncryption(keys).decode(stored));
      expect(error).to.be.instanceOf(PayloadKeyError).with.property("keyId", "2025-01");
      expect(error).to.have.property("message").that.contains('"2025-01"').and.contains("PAYLOAD_KEYS_FILE");
    }
    const other = await failureOf(new PayloadEncryption([key("2025-01")]).decode(stored));
    expect(other)
      .to.be.instanceOf(PayloadKeyError)
      .with.property("message")
      .that.contains("differs in PAYLOAD_KEYS_FILE");
  });

  it("notices every changed byte, also a changed name of the key", async () => {
    const same = { id: "2026-02", key: recent.key };
    const codec = new PayloadEncryption([recent, same]);
    const [stored] = await codec.encode([plain]);
    const data = Buffer.from(stored?.data ?? []);
    for (const place of data.keys()) {
      const changed = Buffer.from(data);
      changed[place]! ^= 1;
      expect(await failureOf(codec.decode([{ ...stored, data: changed }])), `byte ${place}`).to.be.instanceOf(Error);
    }
    for (const length of [0, 1, 12, 27, data.length - 1])
      expect(await failureOf(codec.decode([{ ...stored, data: data.subarray(0, length) }]))).to.be.instanceOf(Error);
    const renamed = { ...stored?.metadata, "encryption-key-id": Buffer.from("2026-02") };
    expect(await failureOf(codec.decode([{ metadata: renamed, data }]))).to.be.instanceOf(PayloadKeyError);
  });

  it("is an error of its own to the API, also inside of another", () => {
    const error = new PayloadKeyError("2025-01", "PAYLOAD_KEYS_FILE does not contain");
    const told = { _tag: "PayloadKeyMissing", keyId: "2025-01", problem: "PAYLOAD_KEYS_FILE does not contain" };
    expect(readError(error)).to.deep.equal(told);
    expect(writeError(new Error("wrapped", { cause: error }))).to.deep.equal(told);
  });
});
