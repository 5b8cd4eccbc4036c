import { createServer } from "node:http";
import { Readable } from "node:stream";
import { exportJWK, exportSPKI, generateKeyPair, SignJWT, type JWTPayload } from "jose";
import { close, listen } from "./real-issuer";

type Answer = { readonly status: number; readonly body: unknown } | "no answer" | "no end";

/** An issuer that does what a test says, for tokens and answers that no real one gives. */
export interface ScriptedIssuer {
  readonly url: string;
  /** Requests that it got, by path. */
  readonly asked: string[];
  /** What it answers by path. */
  readonly answers: Map<string, Answer>;
  readonly publicKeyPem: string;
  /** A token that is right but for what the test changes. */
  token(claims: JWTPayload, header?: { readonly alg?: string; readonly kid?: string }): Promise<string>;
  /** Replaces its key by another one with another name. */
  rotate(kid: string): Promise<void>;
  close(): Promise<void>;
}

/** An answer that has no end, of which nothing is wrong so far. */
function* spaces(): Generator<Buffer> {
  for (;;) yield Buffer.alloc(65_536, " ");
}

export const metadataPath = "/.well-known/openid-configuration";

export async function scriptedIssuer(): Promise<ScriptedIssuer> {
  const asked: string[] = [];
  const answers = new Map<string, Answer>();
  const server = createServer((request, response) => {
    asked.push(request.url ?? "");
    const answer = answers.get(request.url ?? "") ?? { status: 404, body: {} };
    if (answer === "no answer") return void request.socket.destroy();
    if (answer === "no end") return void Readable.from(spaces()).pipe(response);
    response.writeHead(answer.status, { "content-type": "application/json" }).end(JSON.stringify(answer.body));
  });
  const url = await listen(server);
  let kid = "first";
  let keys = await generateKeyPair("RS256", { extractable: true });
  const publish = async () =>
    answers.set("/keys", {
      status: 200,
      body: { keys: [{ ...(await exportJWK(keys.publicKey)), kid, alg: "RS256", use: "sig" }] },
    });
  answers.set(metadataPath, { status: 200, body: { issuer: url, jwks_uri: `${url}/keys` } });
  await publish();
  return {
    url,
    asked,
    answers,
    publicKeyPem: await exportSPKI(keys.publicKey),
    token: (claims, header = {}) =>
      new SignJWT(claims).setProtectedHeader({ alg: "RS256", kid, ...header }).sign(keys.privateKey),
    rotate: async (next) => {
      kid = next;
      keys = await generateKeyPair("RS256", { extractable: true });
      await publish();
    },
    close: () => close(server),
  };
}
