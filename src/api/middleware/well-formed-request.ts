import { badRequest, type Problem } from "../../upgrades/service-error";
import type { ApiMiddleware } from "../api-context";
import { respondWithError } from "../respond";

/** Refuses what Node's parser lets through although it names no resource or breaks HTTP. */
export const requireWellFormedRequest: ApiMiddleware = (ctx, next) => {
  const problem = problemOf(ctx.req.httpVersion, ctx.req.headers.host, ctx.path, ctx.querystring);
  if (!problem) return next();
  respondWithError(ctx, badRequest(problem));
  return Promise.resolve();
};

function problemOf(version: string, host: string | undefined, path: string, query: string): Problem | undefined {
  if (version === "1.1" && host === undefined) {
    return { code: "MALFORMED_HTTP", message: "The request has no Host header.", remediation: "Send a Host header." };
  }
  const decodedPath = percentDecoded(path);
  // eslint-disable-next-line no-control-regex -- control characters are what is refused
  if (decodedPath === undefined || /[\u0000-\u001f\u007f]/.test(decodedPath) || percentDecoded(query) === undefined) {
    return {
      code: "MALFORMED_URL",
      message: "The path or the query is not percent-encoded UTF-8 text without control characters.",
      remediation: "Encode the URL as RFC 3986 says.",
    };
  }
  return undefined;
}

function percentDecoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
