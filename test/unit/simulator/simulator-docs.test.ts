import { expect } from "chai";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { FaultKind } from "../../../src/simulator/state/fault";
import { LedgerStep } from "../../../src/simulator/state/ledger-entry";
import * as E from "fp-ts/Either";
import { readSimulatorConfig } from "../../../src/simulator/config/simulator-config";
import { startTestSimulator } from "./simulator-client";

const root = join(__dirname, "../../..");
const text = readFileSync(join(root, "docs/simulator.md"), "utf8");

describe("docs/simulator.md", () => {
  it("has an example of every fault, and each is accepted", async () => {
    const config = readSimulatorConfig(join(root, "config/simulator.yaml"));
    if (E.isLeft(config)) throw new Error(config.left.join("\n"));
    const { simulator, client } = await startTestSimulator({ config: config.right });
    try {
      const examples = [...text.matchAll(/^fault '(.*)'$/gm)].map(
        ([, json]) => JSON.parse(json ?? "") as { kind: string },
      );
      expect([...new Set(examples.map(({ kind }) => kind))].sort()).to.deep.equal(Object.keys(FaultKind.keys).sort());
      for (const example of examples) await client.fault(example);
    } finally {
      await simulator.close();
    }
  });

  it("is followed by docs/failures.md, which has every row that tests cite", () => {
    const failures = readFileSync(join(root, "docs/failures.md"), "utf8");
    const rows = [...failures.matchAll(/^\| (\d+) \|/gm)].map(([, number]) => Number(number));
    expect([...new Set(rows)]).to.deep.equal(Array.from({ length: 19 }, (_, i) => i + 1));
  });

  it("explains every step of the ledger", () => {
    const missing = Object.keys(LedgerStep.keys).filter((step) => !text.includes(`\`${step}\``));
    expect(missing).to.deep.equal([]);
  });
});
