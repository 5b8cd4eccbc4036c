import { ServiceError } from "@temporalio/client";
import { expect } from "chai";
import { readError, writeError } from "../../../src/temporal/temporal-error";

/** An error of the gRPC library as the Temporal client passes it on. */
function failed(code: number, details = "details"): ServiceError {
  const cause = Object.assign(new Error(`${code} SOME_CODE: ${details}`), { code, details, metadata: {} });
  return new ServiceError("Failed", { cause });
}

describe("errors of Temporal", () => {
  it("are told from others: no answer in time, not available, no such namespace, no permission", () => {
    for (const code of [1, 4, 5, 7, 14, 16]) {
      expect(readError(failed(code))._tag, `read, ${code}`).to.equal("TemporalUnreachable");
      expect(writeError(failed(code))._tag, `write, ${code}`).to.equal("FailedDependency");
    }
  });

  it("are told with words where they are a limit of the server", () => {
    for (const error of [readError(failed(8)), writeError(failed(8, "namespace rate limit exceeded"))])
      expect(error).to.deep.include({ _tag: "Busy" }).and.to.have.nested.property("problem.code", "TEMPORAL_BUSY");
    const full = writeError(failed(3, "exceeded workflow execution limit for signal events"));
    expect(full).to.have.nested.property("reason.errorCode", "UPGRADE_TAKES_NO_MORE_REQUESTS");
    expect(full._tag === "Conflict" && full.reason.message).to.contain("limit for signal events");
  });

  it("are no unreachable Temporal where it has answered that it does not understand (3)", () => {
    expect(readError(failed(3))._tag).to.equal("Unexpected");
    expect(writeError(failed(3))._tag).to.equal("Unexpected");
    expect(readError(new Error("bug"))._tag).to.equal("Unexpected");
  });
});
