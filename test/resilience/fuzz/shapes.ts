import { example } from "../../support/service/examples";

/** A request that breaks HTTP, or uses what hardly anybody uses, as its bytes. */
export interface Shape {
  readonly what: string;
  readonly bytes: string | Buffer;
  /** The client ends its side after it. */
  readonly end?: true;
  /** It hides a request to this path, which must never be served. */
  readonly hidden?: string;
}

const json = JSON.stringify(example("cluster-draft"));
const preview = "POST /v1/upgrades/preview HTTP/1.1";

/** The head of a request: its first line, what every request has, and further headers. */
export function head(first: string, ...headers: string[]): string {
  return [first, "Host: localhost", "Authorization: x", "Content-Type: application/json", ...headers, "", ""].join(
    "\r\n",
  );
}

/** A whole small request, after which the connection is closed. */
const get = (path: string, ...headers: string[]) => head(`GET ${path} HTTP/1.1`, "Connection: close", ...headers);
const chunked = `${Buffer.byteLength(json).toString(16)}\r\n${json}\r\n0\r\n\r\n`;
const lengthOfJson = `Content-Length: ${Buffer.byteLength(json)}`;

let hiddenRequests = 0;

/** A body that is a whole request where the two sides disagree on its length. */
function smuggled(what: string, make: (hidden: string) => string): Shape {
  const hidden = `/v1/upgrades/hidden-${++hiddenRequests}`;
  return { what, hidden, bytes: make(`GET ${hidden} HTTP/1.1\r\nHost: localhost\r\n\r\n`) };
}

/** Requests that two servers in a row could read in different ways. */
export const smuggling: readonly Shape[] = [
  ...["Transfer-Encoding: chunked", "transfer-encoding: CHUNKED", "Transfer-Encoding: chunked, chunked"].map((coding) =>
    smuggled(
      `Content-Length beside ${coding}`,
      (hidden) => `${head(preview, "Content-Length: 4", coding)}0\r\n\r\n${hidden}`,
    ),
  ),
  ...[
    "Transfer-Encoding: xchunked",
    "Transfer-Encoding : chunked",
    "Transfer-Encoding:\tchunked, identity",
    "Transfer-Encoding: chunked, gzip",
    "Transfer-Encoding: identity",
    "Transfer-Encoding:\r\n chunked",
    "Transfer-Encoding: \x0bchunked",
    "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
    "Transfer_Encoding: chunked",
    "X: a\nTransfer-Encoding: chunked",
    "X: a\rTransfer-Encoding: chunked",
    " Transfer-Encoding: chunked",
  ].map((coding) =>
    smuggled(JSON.stringify(coding), (hidden) => `${head(preview, coding, "Connection: close")}0\r\n\r\n${hidden}`),
  ),
  ...[
    "-1",
    "+4",
    "4, 4",
    "4, 5",
    "0x4",
    "4 4",
    "4\r\nContent-Length: 0",
    "1e1",
    "٤",
    "9".repeat(30),
    "18446744073709551620",
  ].map((length) =>
    smuggled(
      `Content-Length ${JSON.stringify(length)}`,
      (hidden) => `${head(preview, `Content-Length: ${length}`)}null${hidden}`,
    ),
  ),
  smuggled(
    "a Content-Length that is empty",
    (hidden) => `${head(preview, "Content-Length:", "Connection: close")}${hidden}`,
  ),
  smuggled(
    "chunks in HTTP/1.0",
    (hidden) => `${head("POST /v1/upgrades/preview HTTP/1.0", "Transfer-Encoding: chunked")}0\r\n\r\n${hidden}`,
  ),
  smuggled("a GET with a body", (hidden) => `${get("/health/live", `Content-Length: ${hidden.length}`)}${hidden}`),
  smuggled("a chunk size with a sign", (hidden) => `${head(preview, "Transfer-Encoding: chunked")}-1\r\n${hidden}`),
  smuggled(
    "a chunk size past 64 bits",
    (hidden) => `${head(preview, "Transfer-Encoding: chunked")}${"F".repeat(17)}\r\n${hidden}`,
  ),
  smuggled(
    "a chunk longer than it says",
    (hidden) => `${head(preview, "Transfer-Encoding: chunked")}1\r\n{}0\r\n\r\n${hidden}`,
  ),
  smuggled(
    "a chunk that ends with LF alone",
    (hidden) => `${head(preview, "Transfer-Encoding: chunked")}2\n{}\n0\n\n${hidden}`,
  ),
  smuggled(
    "a chunk extension with LF in it",
    (hidden) => `${head(preview, "Transfer-Encoding: chunked")}2;a\nb\r\n{}\r\n0\r\n\r\n${hidden}`,
  ),
];

/** Requests whose parts are too many, too long or of characters that do not belong there. */
export const malformed: readonly Shape[] = [
  {
    what: "a Content-Length that is too large",
    end: true,
    bytes: head(preview, `Content-Length: ${json.length + 9}`) + json,
  },
  {
    what: "a Content-Length that is too small",
    bytes: head(preview, `Content-Length: ${json.length - 9}`, "Connection: close") + json,
  },
  { what: "a Content-Length of 100 MB", bytes: head(preview, "Content-Length: 104857600") },
  {
    what: "chunk extensions of 1 MB",
    bytes: `${head(preview, "Transfer-Encoding: chunked")}2;${"a=b;".repeat(250_000)}\r\n{}`,
  },
  {
    what: "an extension for each chunk",
    bytes: head(preview, "Transfer-Encoding: chunked") + "1;a=b\r\n \r\n".repeat(50_000),
  },
  {
    what: "trailers of 1 MB",
    bytes: `${head(preview, "Transfer-Encoding: chunked")}0\r\n${"X: y\r\n".repeat(170_000)}\r\n`,
  },
  {
    what: "a trailer that changes who asks",
    bytes: `${head(preview, "Transfer-Encoding: chunked", "Connection: close", "Trailer: Authorization")}${chunked.slice(0, -2)}Authorization: y\r\n\r\n`,
  },
  { what: "lines that end with LF alone", bytes: get("/health/live").replaceAll("\r\n", "\n") },
  { what: "lines that end with CR alone", end: true, bytes: get("/health/live").replaceAll("\r\n", "\r") },
  { what: "a folded header", bytes: get("/health/live", "X: a\r\n b") },
  { what: "a folded Host", bytes: get("/health/live").replace("Host: localhost", "Host: localhost\r\n\tb") },
  { what: "a header without a colon", bytes: get("/health/live", "nonsense") },
  { what: "a header without a name", bytes: get("/health/live", ": x") },
  { what: "a header name with a space", bytes: get("/health/live", "X Y: x") },
  { what: "a header with NUL", bytes: get("/health/live", "X: \0") },
  { what: "a header of bytes past ASCII", bytes: get("/health/live", "X: \xff\xfe") },
  { what: "16 KiB of headers", bytes: get("/health/live", `X: ${"x".repeat(16_384)}`) },
  {
    what: "1 MB of headers",
    bytes: get("/health/live", ...Array.from({ length: 40_000 }, (_, i) => `X-${i}: ${"x".repeat(16)}`)),
  },
  { what: "1,500 headers of a byte", bytes: get("/health/live", ...Array.from({ length: 1500 }, () => "a:b")) },
  {
    what: "1,000 times the same header",
    bytes: get("/v1/tasks", ...Array.from({ length: 1000 }, () => "If-None-Match:a")),
  },
  { what: "a target of 40 KB", bytes: get(`/${"x".repeat(40_000)}`) },
  { what: "a target of 15 KB", bytes: get(`/v1/upgrades/${"%41".repeat(5000)}`) },
  { what: "a query of 15 KB", bytes: get(`/v1/upgrades?${"a=b&".repeat(3700)}`) },
  { what: "a target with a space", bytes: get("/health/live /x") },
  { what: "a target of bytes past ASCII", bytes: get("/v1/upgrades/\xff\xc0\x80") },
  { what: "a target of another host", bytes: get("http://evil.example.com/health/live") },
  { what: "a target of user and password", bytes: get("http://a:b@c/health/live") },
  { what: "the target *", bytes: head("OPTIONS * HTTP/1.1", "Connection: close") },
  { what: "no target", bytes: head("GET HTTP/1.1", "Connection: close") },
  ...["HTTP/0.9", "HTTP/1.2", "HTTP/2.0", "HTTP/9.9", "http/1.1", "HTTP/1.1x", "ICE/1.0", ""].map((version) => ({
    what: `the version ${JSON.stringify(version)}`,
    bytes: head(`GET /health/live ${version}`, "Connection: close"),
    end: true as const,
  })),
  { what: "HTTP/1.0", bytes: "GET /health/live HTTP/1.0\r\n\r\n" },
  ...["get", "GE T", "TRACE", "TRACK", "CONNECT", "PRI", "M-SEARCH", "QUERY", "X".repeat(1000), "\0"].map((method) => ({
    what: `the method ${JSON.stringify(method.slice(0, 20))}`,
    bytes: head(`${method} /v1/upgrades HTTP/1.1`, "Connection: close"),
  })),
  ...["X-HTTP-Method-Override", "X-Method-Override", "X-HTTP-Method"].map((name) => ({
    what: `a method by ${name}`,
    bytes: get("/v1/tasks/6f1f2a58-7f0a-4b7e-9d53-2c1f6a0c8e11", `${name}: DELETE`),
  })),
  {
    what: "an upgrade to a web socket",
    bytes: get("/health/live", "Upgrade: websocket", "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==").replace(
      "close",
      "upgrade, close",
    ),
  },
  {
    what: "an upgrade to HTTP/2",
    bytes: get("/health/live", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA").replace(
      "close",
      "upgrade, close",
    ),
  },
  { what: "the preface of HTTP/2", bytes: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" },
  {
    what: "an expectation of nothing known",
    bytes: head(preview, lengthOfJson, "Connection: close", "Expect: wonders") + json,
  },
  { what: "an expectation without a body", end: true, bytes: head(preview, lengthOfJson, "Expect: 100-continue") },
  { what: "a handshake of TLS", bytes: Buffer.from([0x16, 3, 1, 0, 5, 1, 0, 0, 1, 3]) },
  { what: "zeros", bytes: Buffer.alloc(100_000) },
  { what: "nothing", bytes: "", end: true },
  { what: "line breaks", bytes: "\r\n".repeat(100_000), end: true },
  { what: "another protocol", bytes: "EHLO example.com\r\n" },
  ...[
    "",
    "Authorization:\r\n",
    "Authorization: \r\n",
    "Authorization: x\r\nAuthorization: y\r\n",
    `Authorization: ${"x".repeat(8192)}\r\n`,
    "Authorization: x\r\n y\r\n",
    "Authorization: x\ny\r\n",
    "Authorization: x\ry\r\n",
  ].map((line) => ({
    what: `credentials ${JSON.stringify(line.slice(0, 40))}`,
    bytes: head(preview, lengthOfJson, "Connection: close").replace("Authorization: x\r\n", line) + json,
  })),
  ...[
    "",
    "text/plain",
    "application/json; charset=utf-16",
    "application/xml",
    "multipart/form-data; boundary=x",
    "application/x-www-form-urlencoded",
    "application/json\r\nContent-Type: text/plain",
    `application/json;${"a=b;".repeat(3000)}`,
    "*/*",
    "\xff",
  ].map((type) => ({
    what: `the content type ${JSON.stringify(type.slice(0, 60))}`,
    bytes: head(preview, lengthOfJson, "Connection: close").replace("application/json", type) + json,
  })),
  ...["gzip", "br", "deflate", "zstd", "compress", "identity, gzip", "GZIP", "x"].map((coding) => ({
    what: `the content coding ${coding}`,
    bytes: head(preview, lengthOfJson, "Connection: close", `Content-Encoding: ${coding}`) + json,
  })),
];
