import { resolve } from "node:path";
import { expect } from "chai";

const script = resolve(__dirname, "../../../scripts/install.mjs");

describe("npm ci that fails", () => {
  it("is told by npm's reason, without its warnings and the help on its options", async () => {
    const { npmReason } = (await import(script)) as { npmReason(output: string): string };
    const reason = [
      "npm error code EUSAGE",
      "npm error `npm ci` can only install packages when your package.json and package-lock.json are in sync.",
      "npm error Missing: koa@3.3.0 from lock file",
    ];
    const help = ["npm error Clean install a project", "npm error", "npm error Usage:", "npm error npm ci"];
    const options = Array.from({ length: 30 }, (_, i) => `npm error --option-${i}`);
    const output = ["npm warn deprecated x", ...reason, "", ...help, ...options].join("\n");
    expect(npmReason(output).split("\n")).to.deep.equal(reason);
  });
});
