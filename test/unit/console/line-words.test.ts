import { expect } from "chai";
import { lineWords } from "../../../src/console/labels/line-labels";

describe("the words for the console's line", () => {
  it("say of a failed upgrade that it waits as long as it can be retried, and only then", () => {
    expect(lineWords("ENDED", { isRetryable: true })).to.equal("Waits for a decision");
    expect(lineWords("ENDED", { isRetryable: false })).to.equal("Ended");
    expect(lineWords("ENDED", {})).to.equal("Ended");
    expect(lineWords("LOST", { isRetryable: true })).to.contain("trying again");
  });
});
