import type { IncomingMessage } from "node:http";
import { badRequest, type Problem } from "../../upgrades/service-error";
import type { ApiMiddleware } from "../api-context";
import { respondWithError } from "../response";

/** Refuses what Node's parser lets through although it names no resource or breaks HTTP. */
export const requireWellFormedRequest: ApiMiddleware = (ctx, next) => {
  const problem = hostProblem(ctx.req) ?? transferProblem(ctx.req) ?? urlProblem(ctx.state.path, () => ctx.querystring);
  if (!problem) return next();
  respondWithError(ctx, badRequest(problem));
  return Promise.resolve();
};

/** Exactly one Host, also where a proxy could choose another one of several (RFC 9112, 3.2). */
function hostProblem({ httpVersion, headersDistinct }: IncomingMessage): Problem | undefined {
  const hosts = headersDistinct["host"]?.length ?? 0;
  if (hosts === 1 || (hosts === 0 && httpVersion !== "1.1")) return undefined;
  return {
    code: "MALFORMED_HTTP",
    message: hosts === 0 ? "The request has no Host header." : "The request has more than one Host header.",
    remediation: "Send one Host header.",
  };
}

/** Node takes chunks apart and would hand over whatever else was done to the body. */
function transferProblem({ headers }: IncomingMessage): Problem | undefined {
  const coding = headers["transfer-encoding"];
  if (coding === undefined || coding.toLowerCase() === "chunked") return undefined;
  return {
    code: "UNSUPPORTED_CONTENT_ENCODING",
    message: "Transfer-Encoding must be chunked.",
    remediation: "Send the body without a content encoding.",
  };
}

function urlProblem(path: string | undefined, query: () => string): Problem | undefined {
  const decodedPath = path === undefined ? undefined : percentDecoded(path);
  // eslint-disable-next-line no-control-regex -- control characters are what is refused
  if (decodedPath === undefined || /[\u0000-\u001f\u007f]/.test(decodedPath) || percentDecoded(query()) === undefined) {
    return {
      code: "MALFORMED_URL",
      message: "The request target is not a URL in percent-encoded UTF-8 without control characters.",
      remediation: "Encode the URL according to RFC 3986.",
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
