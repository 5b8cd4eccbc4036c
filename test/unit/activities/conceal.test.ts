import { expect } from "chai";
import { conceal as concealIn } from "../../../activities/drivers/vapi/conceal";

const conceal = (body: unknown, secrets: readonly string[]) => concealIn(JSON.stringify(body), body, secrets);

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

  it("holds none either that was written with escapes", () => {
    for (const secret of ['quo"ted', "back\\slash", "Top$ecret/1"]) {
      const body = { default_message: `It is ${secret}.` };
      const text = JSON.stringify(body).replaceAll("/", "\\/").replaceAll("$", "\\u0024");
      expect(concealIn(text, JSON.parse(text), [secret])).to.deep.equal({ default_message: "It is ***." });
    }
  });

  it("keeps its meaning where a secret happens to be a status or a word", () => {
    const body = { status: "PREPARED", version: "9.0.2.0", default_message: "The new appliance is PREPARED." };
    expect(conceal(body, ["PREPARED", "9.0.2.0", "new"])).to.deep.equal({
      ...body,
      default_message: "The new appliance is ***.",
    });
    for (const other of [null, 1, "text", [], "Top$ecret"]) {
      expect(conceal(other, ["Top$ecret"])).to.deep.equal(other);
    }
  });
});
