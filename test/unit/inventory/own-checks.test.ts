import { expect } from "chai";
import type { InventoryContent } from "../../../src/inventory/inventory-content";
import { ownChecks } from "../../../src/inventory/own-checks";
import { secretReader } from "../../../src/inventory/read-secret";

type Check = NonNullable<InventoryContent["checks"]>[number];

const secret = `whsec_${Buffer.from("a secret of thirty-two bytes 123").toString("base64")}`;
const common = { at: ["BEFORE_UPGRADE"], url: "https://monitoring.example.com/prefix" };
const slo: Check = {
  ...{ id: "slo", kind: "PROMETHEUS", onFailure: "WAIT", ...common, tokenVariable: "TOKEN" },
  ...{ query: "up", condition: { operator: "GE", value: 1 } },
};
const alerts: Check = { id: "alerts", kind: "ALERTMANAGER", onFailure: "FAIL", ...common, filter: ['a="b"'] };
const board: Check = { id: "board", kind: "WEBHOOK", onFailure: "PAUSE", ...common, secretVariable: "SECRET" };

function read(checks: readonly Check[], token = "t0ken") {
  const problems: string[] = [];
  const entries = ownChecks(checks, secretReader("/nowhere", { SECRET: secret, TOKEN: token }), problems);
  return { problems, entries: [...entries.values()] };
}

describe("ownChecks", () => {
  it("reads all kinds; what upgrades plan holds neither address nor question nor secret", () => {
    const { problems, entries } = read([
      { ...slo, domains: ["fra1"], intervalSeconds: 60, timeoutSeconds: 3 },
      alerts,
      { ...board, decideMinutes: 90 },
    ]);
    expect(problems).to.deep.equal([]);
    const at = ["BEFORE_UPGRADE"];
    expect(entries.map(({ planned }) => planned)).to.deep.equal([
      {
        ...{ id: "slo", kind: "PROMETHEUS", at, onFailure: "WAIT", intervalSeconds: 60, decideMinutes: 1440 },
        domains: ["fra1"],
      },
      { id: "alerts", kind: "ALERTMANAGER", at, onFailure: "FAIL", intervalSeconds: 30, decideMinutes: 1440 },
      { id: "board", kind: "WEBHOOK", at, onFailure: "PAUSE", intervalSeconds: 30, decideMinutes: 90 },
    ]);
    const { url } = common;
    expect(entries.map(({ definition }) => definition)).to.deep.equal([
      {
        ...{ id: "slo", kind: "PROMETHEUS", timeoutSeconds: 3, url, token: "t0ken", query: "up" },
        ...{ condition: { operator: "GE", value: 1 }, emptyPasses: false },
      },
      { id: "alerts", kind: "ALERTMANAGER", timeoutSeconds: 10, url, filter: ['a="b"'] },
      { id: "board", kind: "WEBHOOK", timeoutSeconds: 10, url, secrets: [secret] },
    ]);
  });

  it("refuses a point at which nothing is asked", () => {
    expect(read([{ ...alerts, at: ["BEFORE_UPGRADE", "AFTER_STAGE"] }]).problems).to.deep.equal([
      "The check alerts has at AFTER_STAGE, which needs campaigns: this version has none.",
    ]);
    const points = ["BEFORE_HOST", "AFTER_HOST", "AFTER_RESOURCE"];
    expect(read([{ ...alerts, at: points }]).entries[0]?.planned.at).to.deep.equal(points);
    expect(read([{ ...alerts, at: ["AFTER_HOSTS"] }]).problems).to.deep.equal([
      "The check alerts has at AFTER_HOSTS: this version knows BEFORE_UPGRADE, BEFORE_HOST, AFTER_HOST, AFTER_RESOURCE.",
    ]);
    expect(read([{ ...alerts, at: [] }]).problems).to.deep.equal([
      "The check alerts has no at: write BEFORE_UPGRADE, BEFORE_HOST, AFTER_HOST, AFTER_RESOURCE, or several.",
    ]);
  });

  it("says everything that is wrong, without secrets and URLs", () => {
    const { condition: _, ...withoutCondition } = slo;
    const { problems } = read(
      [
        { ...withoutCondition, query: " ", filter: [], url: "http://mon.example.com/t0ken?x=1" },
        { ...alerts, id: "a b", filter: [], emptyPasses: true, domains: [] },
        { ...board, url: "ftp://t0ken", tokenVariable: "TOKEN", secretVariable: "NO_SECRET" },
        board,
      ],
      "two words",
    );
    expect(problems).to.deep.equal([
      "The field filter of check slo does not belong to the kind PROMETHEUS.",
      "The url of check slo begins with http://, which others on the network can read: use https://, or set allowHttp.",
      "The token of check slo must be one line of ASCII without spaces.",
      "The query of check slo must be PromQL of at most 2000 characters.",
      "The check slo has no condition, such as {operator: LT, value: 0.05}.",
      "The id of check a b must be 1 to 100 letters, digits, dots, hyphens and underscores.",
      "The field emptyPasses of check a b does not belong to the kind ALERTMANAGER.",
      "The domains of check a b are empty: name some, or remove the field.",
      'The filter of check a b must have 1 to 20 matchers, such as severity="critical".',
      "The field tokenVariable of check board does not belong to the kind WEBHOOK.",
      "The url of check board must begin with https:// and contain neither user nor password.",
      "NO_SECRET, the secret of check board, is not set.",
      "Check board occurs twice.",
    ]);
    expect(problems.join("\n")).not.to.contain("t0ken");
    expect(read([{ ...slo, url: "https://mon.example.com/?x=1" }]).problems).to.deep.equal([
      "The url of check slo must end before ? and #: the address of the server, and its path prefix.",
    ]);
  });
});
