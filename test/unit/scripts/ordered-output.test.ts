import { resolve } from "node:path";
import { expect } from "chai";

interface Output {
  print(name: string, text: string): void;
  end(name: string): void;
}
interface Script {
  OrderedOutput: new (names: readonly string[], write: (text: string) => void) => Output;
}
const script = resolve(__dirname, "../../../scripts/ordered-output.mjs");

describe("the output of suites that run at the same time", () => {
  const told = async () => {
    const { OrderedOutput } = (await import(script)) as Script;
    let text = "";
    const output = new OrderedOutput(["unit", "workflow", "system"], (more) => void (text += more));
    return { output, text: () => text };
  };

  it("shows the first as it comes and keeps the others for their turn", async () => {
    const { output, text } = await told();
    output.print("system", "s1\n");
    output.print("unit", "u1\n");
    expect(text()).to.equal("\nunit\nu1\n");
    output.end("unit");
    expect(text()).to.equal("\nunit\nu1\n\nworkflow\n");
    output.print("workflow", "w1\n");
    output.end("workflow");
    output.print("system", "s2\n");
    output.end("system");
    expect(text()).to.equal("\nunit\nu1\n\nworkflow\nw1\n\nsystem\ns1\ns2\n");
  });

  it("shows one that has ended early when its turn comes", async () => {
    const { output, text } = await told();
    output.print("system", "s1\n");
    output.end("system");
    output.end("unit");
    output.end("workflow");
    expect(text()).to.equal("\nunit\n\nworkflow\n\nsystem\ns1\n");
  });
});
