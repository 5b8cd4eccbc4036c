import { ServiceError } from "@temporalio/client";
import { expect } from "chai";
import { readError, writeError } from "../../../src/temporal/temporal-error";

/** An error of the gRPC library as the Temporal client passes it on. */
function failed(code: number): ServiceError {
  const cause = Object.assign(new Error(`${code} SOME_CODE: details`), { code, details: "details", metadata: {} });
  return new ServiceError("Failed", { cause });
}

describe("errors of Temporal", () => {
  it("are told from others: no answer in time, not available, no such namespace, no permission", () => {
    for (const code of [1, 4, 5, 7, 14, 16]) {
      expect(readError(failed(code))._tag, `read, ${code}`).to.equal("TemporalUnreachable");
      expect(writeError(failed(code))._tag, `write, ${code}`).to.equal("FailedDependency");
    }
  });

  it("are no unreachable Temporal where it has answered: too much (8), or that it does not understand (3)", () => {
    for (const code of [3, 8]) {
      expect(readError(failed(code))._tag).to.equal("Unexpected");
      expect(writeError(failed(code))._tag).to.equal("Unexpected");
    }
    expect(readError(new Error("bug"))._tag).to.equal("Unexpected");
  });
});
