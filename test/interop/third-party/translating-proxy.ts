import { createServer, request, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** Beginnings of field names: as clients spell them, as the specification does. */
const fields = [
  ["esxUpgrade", "hostosUpgrade"],
  ["nsxt", "netvirt"],
  ["vcenter", "mgmt"],
] as const;
/** Values of enumerations, likewise. */
const values = [
  ["ESXI", "HOSTOS_HOST"],
  ["VCENTER", "MGMT_SERVER"],
  ["NSXT_MANAGER", "NETVIRTT_MANAGER"],
  ["NSX_MANAGER", "NETVIRT_MANAGER"],
  ["VMWARE_SOFTWARE", "VENDOR_SOFTWARE"],
] as const;

/** A proxy that stands between a published client and the service. */
export interface TranslatingProxy {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Starts a proxy on a free port that translates the vendor's names of products into the specification's and back, in
 * JSON bodies, and changes nothing else. docs/clients.md says which names these are.
 */
export async function startTranslatingProxy(target: string): Promise<TranslatingProxy> {
  const server = createServer((message, response) => {
    void forward(target, message, response).catch((error: unknown) => {
      response.writeHead(502, { "content-type": "text/plain" }).end(String(error));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function forward(target: string, message: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = translate(await textOf(message), 0, 1);
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const out = request(new URL(message.url ?? "/", target), {
      method: message.method ?? "GET",
      headers: { ...message.headers, ...(body !== "" && { "content-length": Buffer.byteLength(body) }) },
    });
    out.once("response", resolve).once("error", reject);
    out.end(body);
  });
  const translated = translate(await textOf(answer), 1, 0);
  // Its length has changed: Node sends it in chunks.
  const { "content-length": _length, "transfer-encoding": _coding, ...headers } = answer.headers;
  response.writeHead(answer.statusCode ?? 502, headers).end(translated);
}

async function textOf(message: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

function translate(text: string, from: 0 | 1, to: 0 | 1): string {
  const named = fields.reduce(
    (all, pair) => all.replaceAll(new RegExp(`"${pair[from]}(\\w*)"(?=\\s*:)`, "g"), `"${pair[to]}$1"`),
    text,
  );
  return values.reduce((all, pair) => all.replaceAll(`"${pair[from]}"`, `"${pair[to]}"`), named);
}
