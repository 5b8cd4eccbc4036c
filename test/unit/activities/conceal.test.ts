import { expect } from "chai";
import { conceal } from "../../../activities/drivers/vapi/conceal";

describe("what a component manager says", () => {
  it("holds no secret any more in its texts, wherever they are", () => {
    const body = {
      error_type: "INVALID_ARGUMENT",
      messages: [{ id: "m", default_message: "root_password Top$ecret is weak: Top$ecret", args: [] }],
      data: { inner: [{ default_message: "Top$ecret" }] },
    };
    expect(conceal(body, ["Top$ecret", "other"])).to.deep.equal({
      error_type: "INVALID_ARGUMENT",
      messages: [{ id: "m", default_message: "root_password *** is weak: ***", args: [] }],
      data: { inner: [{ default_message: "***" }] },
    });
  });

  it("keeps its meaning where a secret happens to be a status or a word", () => {
    const body = { status: "PREPARED", version: "9.0.2.0", default_message: "The new appliance is PREPARED." };
    expect(conceal(body, ["PREPARED", "9.0.2.0", "new"])).to.deep.equal({
      ...body,
      default_message: "The new appliance is ***.",
    });
    for (const other of [undefined, null, 1, "text", [], "Top$ecret"]) {
      expect(conceal(other, ["Top$ecret"])).to.deep.equal(other);
    }
  });
});
