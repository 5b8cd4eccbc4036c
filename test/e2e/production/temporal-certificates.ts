import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TLSConfig } from "@temporalio/client";
import { testAuthority } from "../../support/certificates";

/** Certificates of a Temporal server and of its clients. */
export interface TemporalCertificates {
  /** For the server, by the names of its configuration template: clients and its own parts need a certificate. */
  readonly server: Readonly<Record<string, string>>;
  /** For clients of any kind, by the names that all of Temporal's clients read. */
  readonly client: Readonly<Record<string, string>>;
  /** For clients in this process. */
  readonly tls: TLSConfig;
  /** For a client in this process that trusts the server and has no certificate of its own. */
  readonly anonymous: TLSConfig;
}

/** The name in the certificates. */
const serverName = "localhost";

/** Makes an authority, and with it a certificate for the server and one for its clients, below a folder. */
export async function temporalCertificates(folder: string): Promise<TemporalCertificates> {
  const place = join(folder, "certificates");
  mkdirSync(place, { mode: 0o700 });
  const authority = await testAuthority("authority of the Temporal server");
  const [server, client] = [await authority.issue("temporal"), await authority.issue("upgrade-management-service")];
  const file = (name: string, content: string) => {
    const path = join(place, name);
    writeFileSync(path, content, { mode: 0o600 });
    return path;
  };
  const ca = file("ca.pem", authority.cert);
  const [cert, key] = [file("server.pem", server.cert), file("server-key.pem", server.key)];
  const anonymous = { serverNameOverride: serverName, serverRootCACertificate: Buffer.from(authority.cert) };
  return {
    server: {
      TEMPORAL_TLS_REQUIRE_CLIENT_AUTH: "true",
      TEMPORAL_TLS_SERVER_CA_CERT: ca,
      TEMPORAL_TLS_SERVER_CERT: cert,
      TEMPORAL_TLS_SERVER_KEY: key,
      TEMPORAL_TLS_FRONTEND_CERT: cert,
      TEMPORAL_TLS_FRONTEND_KEY: key,
      TEMPORAL_TLS_CLIENT1_CA_CERT: ca,
      // The template lists a second one as soon as there is a first.
      TEMPORAL_TLS_CLIENT2_CA_CERT: ca,
      TEMPORAL_TLS_INTERNODE_SERVER_NAME: serverName,
      TEMPORAL_TLS_FRONTEND_SERVER_NAME: serverName,
    },
    client: {
      TEMPORAL_TLS: "true",
      TEMPORAL_TLS_SERVER_CA_CERT_PATH: ca,
      TEMPORAL_TLS_SERVER_NAME: serverName,
      TEMPORAL_TLS_CLIENT_CERT_PATH: file("client.pem", client.cert),
      TEMPORAL_TLS_CLIENT_KEY_PATH: file("client-key.pem", client.key),
    },
    tls: { ...anonymous, clientCertPair: { crt: Buffer.from(client.cert), key: Buffer.from(client.key) } },
    anonymous,
  };
}
