import { expect } from "chai";
import { lineWords } from "../../../src/console/labels/line-labels";

describe("the words for the console's line", () => {
  const times = { display: "UTC" as const, now: Date.parse("2026-12-01T10:00:00Z") };

  it("say of a failed upgrade that it waits as long as it can be retried, and only then", () => {
    expect(lineWords("ENDED", { isRetryable: true }, times)).to.equal("Waits for a decision");
    expect(lineWords("ENDED", { isRetryable: false }, times)).to.equal("Ended");
    expect(lineWords("ENDED", {}, times)).to.equal("Ended");
    expect(lineWords("LOST", { isRetryable: true }, times)).to.contain("trying again");
  });

  it("say how old what is shown is, as times are shown elsewhere", () => {
    expect(lineWords("LIVE", { asOf: "2026-12-01T09:30:00Z" }, times)).to.contain("As of 09:30 UTC");
    const relative = { ...times, display: "RELATIVE" as const };
    expect(lineWords("LIVE", { asOf: "2026-12-01T09:30:00Z" }, relative)).to.contain("As of 30 min ago");
  });
});
