import { expect } from "chai";
import * as E from "fp-ts/Either";
import { ErrorBody } from "../../../src/domain/errors";
import type { TimedAnswer } from "./open-loop";

const statuses = {
  OVERLOADED: 503,
  RATE_LIMITED: 429,
  TEMPORAL_UNREACHABLE: 424,
  COMPONENT_MANAGER_UNREACHABLE: 424,
};

/** The code of a refusal that says when to come back; fails where the answer is none, or of another code. */
export function refusalOf<Code extends keyof typeof statuses>(
  { status, headers, body }: TimedAnswer,
  codes: readonly Code[],
): Code {
  expect(Number(headers["retry-after"]), "Retry-After").to.be.within(1, 60);
  const error = ErrorBody.decode(JSON.parse(body));
  if (E.isLeft(error)) expect.fail(body);
  const code = codes.find((one) => one === error.right.errorCode);
  if (code === undefined) expect.fail(`${status} ${body}`);
  expect(status, body).to.equal(statuses[code]);
  expect(error.right.remediationMessage, body).to.be.a("string");
  return code;
}
