import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { createSecureContext, type SecureContextOptions } from "node:tls";
import * as E from "fp-ts/Either";

/** Where the certificate of the API is, as PEM files. */
export interface TlsFiles {
  /** The certificate, followed by those between it and its authority. */
  readonly certFile: string;
  readonly keyFile: string;
  /** Authorities of client certificates; with it every client needs one. */
  readonly clientCaFile: string | undefined;
}

/** What a listener needs for TLS, read from files that can be used. */
export interface TlsMaterial {
  readonly context: SecureContextOptions;
  readonly requiresClientCertificate: boolean;
  /** When the certificate ends. */
  readonly validTo: Date;
}

/** A certificate that is read again when it is renewed. */
export interface RenewedTls {
  readonly material: TlsMaterial;
  /** Calls `use` with every renewal from now on, until the function that it returns is called. */
  watch(use: (material: TlsMaterial) => void): () => void;
}

/** How often the files are looked at, in milliseconds. */
const lookInterval = 10_000;

/** TLS 1.2 is the oldest that is offered: RFC 8996 deprecates what was before. */
export const oldestTls = "TLSv1.2";

/**
 * The certificate of the files, read again whenever one of them holds something else. While they cannot be used, as in
 * the middle of a renewal, what was read before stays in use and `warn` is told once.
 */
export function renewedTls(
  files: TlsFiles,
  warn: (message: string) => void,
  interval: number = lookInterval,
): E.Either<string, RenewedTls> {
  return E.map(({ material, content }: Read): RenewedTls => {
    const watch = (use: (material: TlsMaterial) => void) => {
      let used = content;
      let problem: string | undefined;
      const look = () => {
        const found = read(files);
        if (E.isLeft(found)) {
          if (found.left !== problem) warn(`${found.left} The certificate that was read before stays in use.`);
          problem = found.left;
          return;
        }
        problem = undefined;
        if (found.right.content === used) return;
        used = found.right.content;
        use(found.right.material);
      };
      const timer = setInterval(look, interval).unref();
      return () => clearInterval(timer);
    };
    return { material, watch };
  })(read(files));
}

interface Read {
  readonly material: TlsMaterial;
  /** All that was read, to notice a change whatever the times of the files say. */
  readonly content: string;
}

function read({ certFile, keyFile, clientCaFile }: TlsFiles): E.Either<string, Read> {
  const cert = readText("API_TLS_CERT_FILE", certFile);
  if (E.isLeft(cert)) return cert;
  const key = readText("API_TLS_KEY_FILE", keyFile);
  if (E.isLeft(key)) return key;
  const ca = clientCaFile === undefined ? E.right(undefined) : readText("API_TLS_CLIENT_CA_FILE", clientCaFile);
  if (E.isLeft(ca)) return ca;
  const clientCa = ca.right;
  const named = `API_TLS_CERT_FILE=${certFile}, API_TLS_KEY_FILE=${keyFile}`;
  const usable = E.tryCatch(() => {
    const { validTo } = new X509Certificate(cert.right);
    const context = { cert: cert.right, key: key.right, ...(clientCa !== undefined && { ca: clientCa }) };
    createSecureContext(context);
    return { context, requiresClientCertificate: clientCa !== undefined, validTo: new Date(validTo) };
  }, String);
  if (E.isLeft(usable)) return E.left(`${named}: not a PEM certificate and the private key that belongs to it.`);
  if (clientCa !== undefined && !isCertificate(clientCa))
    return E.left(`API_TLS_CLIENT_CA_FILE=${clientCaFile}: not a PEM certificate.`);
  return E.right({ material: usable.right, content: [cert.right, key.right, clientCa ?? ""].join("\n") });
}

function readText(variable: string, file: string): E.Either<string, string> {
  return E.tryCatch(
    () => readFileSync(file, "utf8"),
    (thrown) => {
      const code = thrown instanceof Error && "code" in thrown ? String(thrown.code) : "unreadable";
      return `${variable}=${file}: cannot be read (${code}).`;
    },
  );
}

function isCertificate(pem: string): boolean {
  return E.isRight(E.tryCatch(() => new X509Certificate(pem), String));
}
