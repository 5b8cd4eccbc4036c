import type { Context } from "koa";

/** A request as handlers see it. `body` is the parsed JSON, undefined where there was none. */
export interface Call {
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: unknown;
}

/** What a handler answers; a `body` of undefined means none, anything else is sent as JSON. */
export interface Answer {
  readonly status: number;
  readonly body?: unknown;
}

/** A body that is no JSON, or more than {@link maximumBody} bytes. */
export class UnreadableBody extends Error {
  override readonly name = "UnreadableBody";
}

const maximumBody = 1024 * 1024;

/** The bodies that were read already; a request that is carried out late is read while its caller is still there. */
const read = new WeakMap<Context["req"], Promise<Buffer>>();

async function readAll(request: Context["req"]): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maximumBody) throw new UnreadableBody(`the body has more than ${maximumBody} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** The whole body of a request, as often as it is asked for. Rejects with {@link UnreadableBody} where it is too large. */
export function readBody({ req }: Context): Promise<Buffer> {
  let body = read.get(req);
  if (!body) read.set(req, (body = readAll(req)));
  return body;
}
