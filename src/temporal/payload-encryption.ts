import { createCipheriv, createDecipheriv, createHmac, hkdfSync, type KeyObject, randomBytes } from "node:crypto";
import type { DataConverter, Payload, PayloadCodec } from "@temporalio/common";
import { temporal } from "@temporalio/proto";

const { Payload: PayloadMessage } = temporal.api.common.v1;

/** A key of AES-256 and the name by which payloads refer to it. */
export interface PayloadKey {
  readonly id: string;
  readonly key: KeyObject;
}

/** A payload that cannot be decrypted: its key is not there, or is not the one that it was encrypted with. */
export class PayloadKeyError extends Error {
  override readonly name = "PayloadKeyError";

  constructor(
    readonly keyId: string,
    /** What is wrong, after the name of the key. */
    readonly problem: string,
  ) {
    super(`A payload is encrypted with the key "${keyId}", which ${problem}`);
  }
}

/** The names that Temporal's own samples of encryption give these fields. */
const encoding = "binary/encrypted";
const keyIdField = "encryption-key-id";
const cipher = "aes-256-gcm";
/** Of the nonce and of the tag, in bytes (NIST SP 800-38D). */
const [nonceLength, tagLength] = [12, 16];

/**
 * Encrypts payloads with the first key by AES-256-GCM, each whole, with its own metadata, and decrypts with any of the
 * keys, so that keys can be changed while there are payloads of earlier ones (docs/decisions/0021-payload-encryption.md).
 * Without keys payloads stay plain. Plain payloads are always accepted: upgrades from before go on, and an operator's
 * Signal needs no key.
 *
 * Data is nonce, ciphertext and tag, one after another; the name of the key is authenticated with it.
 */
export class PayloadEncryption implements PayloadCodec {
  private readonly keys: ReadonlyMap<string, KeyObject>;

  constructor(private readonly ordered: readonly PayloadKey[]) {
    this.keys = new Map(ordered.map(({ id, key }) => [id, key]));
  }

  // eslint-disable-next-line @typescript-eslint/require-await -- the interface wants a promise, and a rejection rather than a throw
  async encode(payloads: Payload[]): Promise<Payload[]> {
    const [first] = this.ordered;
    return first ? payloads.map((payload) => encrypted(payload, first)) : payloads;
  }

  // eslint-disable-next-line @typescript-eslint/require-await -- as above
  async decode(payloads: Payload[]): Promise<Payload[]> {
    return payloads.map((payload) => (isEncrypted(payload) ? this.decrypted(payload) : payload));
  }

  /**
   * What stands for a text where it is compared and cannot be encrypted: a keyed hash of it, of each key in their order. None
   * without keys. Equal texts have equal hashes, which is all that they tell.
   */
  blindIndexes(text: string): readonly string[] {
    return this.ordered.map(({ key }) =>
      createHmac("sha256", indexKeyOf(key)).update(text).digest("base64url").slice(0, 12),
    );
  }

  private decrypted({ metadata, data }: Payload): Payload {
    const id = textOf(metadata?.[keyIdField]).slice(0, 255);
    const key = this.keys.get(id);
    if (!key) throw new PayloadKeyError(id, "PAYLOAD_KEYS_FILE does not contain");
    const bytes = Buffer.from(data ?? []);
    const end = bytes.length - tagLength;
    try {
      const decipher = createDecipheriv(cipher, key, bytes.subarray(0, nonceLength), { authTagLength: tagLength });
      decipher.setAAD(Buffer.from(id)).setAuthTag(bytes.subarray(end));
      const plain = Buffer.concat([decipher.update(bytes.subarray(nonceLength, end)), decipher.final()]);
      return PayloadMessage.decode(plain);
    } catch {
      throw new PayloadKeyError(id, "differs in PAYLOAD_KEYS_FILE, or the payload was changed");
    }
  }
}

const indexKeys = new WeakMap<KeyObject, Buffer>();

/** The key of blind indexes, so that no key is used for two purposes (RFC 5869). */
function indexKeyOf(key: KeyObject): Buffer {
  const known = indexKeys.get(key) ?? Buffer.from(hkdfSync("sha256", key, "", "search terms", 32));
  indexKeys.set(key, known);
  return known;
}

function encrypted(payload: Payload, { id, key }: PayloadKey): Payload {
  const nonce = randomBytes(nonceLength);
  const encryption = createCipheriv(cipher, key, nonce, { authTagLength: tagLength }).setAAD(Buffer.from(id));
  const plain = PayloadMessage.encode(payload).finish();
  return {
    metadata: { encoding: Buffer.from(encoding), [keyIdField]: Buffer.from(id) },
    data: Buffer.concat([nonce, encryption.update(plain), encryption.final(), encryption.getAuthTag()]),
  };
}

/** What names no key was not written by us: it is passed on, and refused where it is decoded. */
function isEncrypted({ metadata }: Payload): boolean {
  return textOf(metadata?.["encoding"]) === encoding && textOf(metadata?.[keyIdField]) !== "";
}

function textOf(bytes: Uint8Array | null | undefined): string {
  return Buffer.from(bytes ?? []).toString();
}

/**
 * How a client or worker reads and writes payloads. With keys the messages of failures, which name hosts, are made
 * payloads too, by the module `failureConverter`. Without keys what is encrypted cannot be read, and says so.
 */
export function payloadConversion(keys: readonly PayloadKey[], failureConverter: string): DataConverter {
  return {
    payloadCodecs: [new PayloadEncryption(keys)],
    ...(keys.length > 0 && { failureConverterPath: failureConverter }),
  };
}
