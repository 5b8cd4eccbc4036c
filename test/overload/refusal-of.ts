import { expect } from "chai";
import * as E from "fp-ts/Either";
import { ErrorBody } from "../../src/domain/error-body";
import type { TimedAnswer } from "./open-loop";

/** The code of a refusal that says when to come back; fails where the answer is none, or of another code. */
export function refusalOf({ status, headers, body }: TimedAnswer, codes: readonly string[]): string {
  expect(status, body).to.equal(424);
  expect(Number(headers["retry-after"]), "Retry-After").to.be.within(1, 60);
  const error = ErrorBody.decode(JSON.parse(body));
  if (E.isLeft(error)) expect.fail(body);
  const { errorCode = "none", remediationMessage } = error.right;
  expect(errorCode, body).to.be.oneOf([...codes]);
  expect(remediationMessage, body).to.be.a("string");
  return errorCode;
}
