import { type ApplicationFailure, defaultFailureConverter, defaultPayloadConverter } from "@temporalio/common";
import { expect } from "chai";
import { isRight } from "fp-ts/Either";
import type { FailureDetails } from "../../../activities/contract";
import { DriverError } from "../../../activities/drivers/driver-error";
import { failureOf, workerShutdownFailure } from "../../../activities/failures";
import { ErrorBody } from "../../../src/domain/errors";
import { hostStages, phaseOf, RemediationProgress } from "../../../src/domain/task/host-remediation";

const context = { cluster: "cluster-01", host: "esx-07.example.com", componentManager: "vc-01" };
const detailsOf = (failure: ApplicationFailure) => failure.details?.[0] as FailureDetails;

const long = (length: number) => "The bootbank has not enough free space. é ".repeat(200).slice(0, length);
const worst = new DriverError({
  kind: "transient",
  code: "HOST_REMEDIATION_FAILED",
  message: long(3000),
  remediation: long(200),
  errorType: "ERROR",
  causes: [long(3000), long(3000), long(3000), long(3000), long(3000), long(3000)],
});
const time = "2026-12-01T09:30:00.000Z";
const fullProgress: RemediationProgress = {
  kind: "IMAGE",
  activity: long(300),
  phases: "t",
  failures: [3],
  failed: [{ code: "HOST_REMEDIATION_FAILED", what: long(1000), stage: "REMEDIATE", hosts: [0], at: time }],
  began: time,
  entered: Object.fromEntries(Object.keys(hostStages).map((stage) => [stage, time])),
  remoteTask: "9f1c7a6e-3f1b-4d0c-8a55-0a4d2f6f8f11:com.vmware.esx.settings.clusters.software",
  requestedAt: time,
};

describe("failures of Activities", () => {
  it("carry the stable code as type and an Error body as first detail", () => {
    const error = new DriverError({
      kind: "permanent",
      code: "RESOURCE_NOT_FOUND",
      message: "Could not read task 7: vc-01 answered 404 NOT_FOUND.",
      remediation: "Check the inventory.",
      errorType: "NOT_FOUND",
      causes: ["No such task."],
    });
    const failure = failureOf(error, context);
    expect(failure.type).to.equal("RESOURCE_NOT_FOUND");
    const body = detailsOf(failure).error;
    expect(isRight(ErrorBody.decode(body))).to.equal(true);
    expect(body).to.deep.equal({
      errorCode: "RESOURCE_NOT_FOUND",
      errorType: "FAILED_DEPENDENCY",
      message: "Could not read task 7: vc-01 answered 404 NOT_FOUND.",
      remediationMessage: "Check the inventory.",
      context,
      causes: [{ type: "NOT_FOUND", message: "No such task." }],
    });
  });

  it("are retried by Temporal unless they are permanent or the caller says otherwise", () => {
    const of = (kind: "transient" | "permanent", retryable?: boolean) => {
      const error = new DriverError({ kind, code: "X", message: "x", remediation: "x" });
      return failureOf(error, context, retryable === undefined ? {} : { retryable }).nonRetryable;
    };
    expect(of("transient")).to.equal(false);
    expect(of("permanent")).to.equal(true);
    expect(of("transient", false)).to.equal(true);
    expect(of("permanent", true)).to.equal(false);
    expect(failureOf(new TypeError("x is not a function"), context).nonRetryable).to.equal(false);
  });

  it("stay below what the server keeps of a failure, however much there is to tell", () => {
    for (const failure of [
      failureOf(worst, { ...context, host: long(5000) }, { progress: fullProgress }),
      failureOf(worst, context),
      failureOf(new Error(long(5000)), context, { progress: fullProgress }),
      workerShutdownFailure(context, fullProgress),
    ]) {
      const { message, stackTrace, applicationFailureInfo } = defaultFailureConverter.errorToFailure(
        failure,
        defaultPayloadConverter,
      );
      const details = applicationFailureInfo?.details?.payloads?.[0]?.data?.length ?? 0;
      expect(details).to.be.within(1, 3 * 1024);
      expect(Buffer.byteLength(`${message}${stackTrace}`) + details).to.be.below(3.75 * 1024);
    }
  });

  it("keep what the next run needs, whatever is dropped for size", () => {
    const { error, progress } = detailsOf(failureOf(worst, context, { progress: fullProgress }));
    expect(error.errorCode).to.equal("HOST_REMEDIATION_FAILED");
    expect(error.remediationMessage).to.equal(long(200));
    expect(isRight(RemediationProgress.decode(progress))).to.equal(true);
    expect(progress).to.deep.include({
      failures: [3],
      remoteTask: fullProgress.remoteTask,
      requestedAt: time,
    });
    expect(progress && phaseOf(progress, 0)).to.equal("FAILED_ONCE");
  });
});
