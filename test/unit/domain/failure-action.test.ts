import { compileRetryPolicy } from "@temporalio/common";
import { expect } from "chai";
import fc from "fast-check";
import { attemptPolicyOf } from "../../../src/domain/plan/plan-upgrade";
import { HostosUpgradeFailureAction } from "../../../src/domain/spec/upgrade-spec";
import { changeRetryPolicy } from "../../../workflows/activity-options";
import { arbitraryOf } from "./arbitrary-of";

describe("attemptPolicyOf", () => {
  it("tries once for FAIL and where nothing is said, whatever the numbers are", () => {
    const once = { maximumAttempts: 1, retryDelay: 0 };
    for (const action of [undefined, {}, { action: "FAIL" as const }, { retryCount: 5, retryDelay: 60 }]) {
      expect(attemptPolicyOf(action)).to.deep.equal(once);
    }
    expect(attemptPolicyOf({ action: "FAIL", retryCount: 5, retryDelay: 60 })).to.deep.equal(once);
  });

  it("tries retryCount times more for RETRY", () => {
    expect(attemptPolicyOf({ action: "RETRY", retryCount: 5, retryDelay: 10 })).to.deep.equal({
      maximumAttempts: 6,
      retryDelay: 10,
    });
    expect(attemptPolicyOf({ action: "RETRY", retryCount: 0, retryDelay: 0 })).to.deep.equal({
      maximumAttempts: 1,
      retryDelay: 0,
    });
  });

  it("takes 3 retries and 300 s where RETRY gives no numbers", () => {
    expect(attemptPolicyOf({ action: "RETRY" })).to.deep.equal({ maximumAttempts: 4, retryDelay: 300 });
    expect(attemptPolicyOf({ action: "RETRY", retryCount: 1 })).to.deep.equal({ maximumAttempts: 2, retryDelay: 300 });
    expect(attemptPolicyOf({ action: "RETRY", retryDelay: 1 })).to.deep.equal({ maximumAttempts: 4, retryDelay: 1 });
  });

  it("makes of every action that decodes a retry policy that Temporal takes", () =>
    fc.assert(
      fc.property(fc.option(arbitraryOf(HostosUpgradeFailureAction), { nil: undefined }), (action) => {
        const { maximumAttempts, retryDelay } = attemptPolicyOf(action);
        expect(maximumAttempts).to.be.within(1, 101);
        expect(retryDelay).to.be.within(0, 3600);
        const retry = compileRetryPolicy(changeRetryPolicy({ maximumAttempts, retryDelay }));
        expect(retry.maximumAttempts).to.equal(maximumAttempts);
        expect(retry.backoffCoefficient).to.equal(1);
      }),
    ));
});
