import "reflect-metadata";
import { webcrypto } from "node:crypto";
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  PemConverter,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator,
} from "@peculiar/x509";

const keys: webcrypto.EcKeyGenParams & webcrypto.EcdsaParams = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
const hour = 3_600_000;

/** A certificate and its private key as PEM. */
export interface Certified {
  readonly cert: string;
  readonly key: string;
}

/** An authority that lives as long as a test does. */
export interface TestAuthority {
  /** Its own certificate as PEM. */
  readonly cert: string;
  /** A certificate for 127.0.0.1 and localhost, of a server or a client; `validTo` defaults to a day from now. */
  issue(commonName: string, validTo?: Date): Promise<Certified>;
}

/** Makes an authority of its own: nobody else has its key, which is never written to a file. */
export async function testAuthority(commonName: string): Promise<TestAuthority> {
  const own = await webcrypto.subtle.generateKey(keys, true, ["sign", "verify"]);
  const notBefore = new Date(Date.now() - 2 * hour);
  const notAfter = new Date(Date.now() + 24 * hour);
  const authority = await X509CertificateGenerator.createSelfSigned(
    {
      name: `CN=${commonName}`,
      notBefore,
      notAfter,
      keys: own,
      signingAlgorithm: keys,
      extensions: [
        new BasicConstraintsExtension(true, undefined, true),
        new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
      ],
    },
    webcrypto,
  );
  return {
    cert: authority.toString("pem"),
    issue: async (name, validTo = notAfter) => {
      const pair = await webcrypto.subtle.generateKey(keys, true, ["sign", "verify"]);
      const issued = await X509CertificateGenerator.create(
        {
          subject: `CN=${name}`,
          issuer: authority.subject,
          notBefore,
          notAfter: validTo,
          publicKey: pair.publicKey,
          signingKey: own.privateKey,
          signingAlgorithm: keys,
          extensions: [
            await AuthorityKeyIdentifierExtension.create(authority.publicKey, false, webcrypto),
            new SubjectAlternativeNameExtension([
              { type: "dns", value: "localhost" },
              { type: "ip", value: "127.0.0.1" },
            ]),
          ],
        },
        webcrypto,
      );
      const key = await webcrypto.subtle.exportKey("pkcs8", pair.privateKey);
      return { cert: issued.toString("pem"), key: PemConverter.encode(key, "PRIVATE KEY") };
    },
  };
}
