import type { BodyLimits } from "./request-body";

/** How many problems a composite error lists; the rest is only counted, so that an answer stays small and quick. */
export const mostNestedErrors = 100;

/** Bounds of one request (docs/spec-gaps.md, limits). */
export interface ApiLimits {
  readonly body: BodyLimits;
  /** How long a use case may take before the client is told that the request failed. */
  readonly answerMilliseconds: number;
}

export const defaultLimits: ApiLimits = {
  body: { bytes: 512 * 1024, depth: 64, milliseconds: 10_000 },
  answerMilliseconds: 30_000,
};
