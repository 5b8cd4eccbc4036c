import { expect } from "chai";
import { conceal as concealIn } from "../../../activities/drivers/vapi/vapi-http";

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
      messages: [{ id: "m", default_message: "root_password [redacted] is weak: [redacted]", args: [] }],
      data: { inner: [{ default_message: "[redacted]" }] },
    });
  });

  it("holds none either that was written with escapes", () => {
    for (const secret of ['quo"ted', "back\\slash", "Top$ecret/1"]) {
      const body = { default_message: `It is ${secret}.` };
      const text = JSON.stringify(body).replaceAll("/", "\\/").replaceAll("$", "\\u0024");
      expect(concealIn(text, JSON.parse(text), [secret])).to.deep.equal({ default_message: "It is [redacted]." });
    }
  });

  it("has no gap where a secret is an ordinary word, which the gap would tell", () => {
    const said = (default_message: string, secret: string) =>
      (conceal({ default_message }, [secret, "Top$ecret"]) as { default_message: string }).default_message;
    for (const secret of ["password", "sicher", "12345678", "9.0.2.0"]) {
      const text = `The ${secret} of root is too weak: Top$ecret.`;
      expect(said(text, secret)).not.to.contain(secret).and.not.to.contain("of root");
    }
    expect(said("The password of root is too weak: Top$ecret.", "appliance")).to.equal(
      "The password of root is too weak: [redacted].",
    );
  });

  it("keeps its meaning where a secret happens to be a status or a word", () => {
    const body = { status: "PREPARED", version: "9.0.2.0", default_message: "The new appliance is PREPARED." };
    expect(conceal(body, ["PREPARED", "9.0.2.0", "new"])).to.deep.equal({
      ...body,
      default_message: "(This message is not shown because it may hold a secret.)",
    });
    for (const other of [null, 1, "text", [], "Top$ecret"]) {
      expect(conceal(other, ["Top$ecret"])).to.deep.equal(other);
    }
  });
});
