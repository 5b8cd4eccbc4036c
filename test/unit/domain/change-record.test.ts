import { expect } from "chai";
import { isRight } from "fp-ts/Either";
import { problemsOf } from "../../../src/domain/decode";
import {
  changeRecordOf,
  ChangeId,
  Labels,
  LabelText,
  labelTexts,
  Reason,
} from "../../../src/domain/spec/change-record";
import { UpgradeSpec } from "../../../src/domain/spec/upgrade-spec";

const spec = { bundleId: "b", resourceType: "CLUSTER", resourceUpgradeSpecs: [{ resourceId: "c" }] };

/** Paths and messages of what is wrong with a request that says this beside the rest. */
const problems = (said: object) => {
  const decoded = UpgradeSpec.decode({ ...spec, ...said });
  return isRight(decoded)
    ? []
    : problemsOf(decoded.left, "The body", 100).problems.map(({ path, message }) => [path, message]);
};

const labels = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`name${i}`, "value"]));

describe("The change record of a request", () => {
  it("has a reason of printable characters on one line", () => {
    for (const reason of ["x", "Sécurité, 安全 🙂", "x".repeat(1024), "🙂".repeat(1024)])
      expect(Reason.is(reason), reason.slice(0, 20)).to.equal(true);
    for (const reason of ["", "   ", "a\nb", "a\u0000", "a\u202eb", "a\u200bb", "\ud800", "x".repeat(1025)])
      expect(Reason.is(reason), JSON.stringify(reason.slice(0, 20))).to.equal(false);
  });

  it("has a change id that is one word", () => {
    for (const id of ["CHG0012345", "OPS-7", "acme/infra#12", "x".repeat(64)])
      expect(ChangeId.is(id), id).to.equal(true);
    for (const id of ["", "two words", "-x", "a\n", "x'", 'x"', "x".repeat(65)])
      expect(ChangeId.is(id), id).to.equal(false);
  });

  it("has at most 15 labels, which all fit into one search attribute", () => {
    const longest = Object.fromEntries(
      Array.from({ length: 15 }, (_, i) => [`${i}`.padEnd(63, "n"), "v".repeat(63)] as const),
    );
    expect(Labels.is(longest)).to.equal(true);
    expect(Buffer.byteLength(JSON.stringify(labelTexts(longest)))).to.be.at.most(2048);
    expect(problems({ labels: labels(15) })).to.deep.equal([]);
    expect(problems({ labels: labels(16) })).to.deep.equal([
      ["labels", "labels: expected an object of at most 15 labels, each a text by its name, got an object: it has 16."],
    ]);
  });

  it("is refused with the path of each wrong label", () => {
    const wrong = JSON.parse('{"team": "", "-x": "y", "__proto__": "z", "right": "Fra 1", "n": 1}') as object;
    const found = problems({ labels: wrong, reason: "a\nb", changeId: 7 });
    expect(found.map(([path]) => path)).to.have.members([
      "reason",
      "changeId",
      "labels.team",
      "labels.-x",
      "labels.__proto__",
      "labels.n",
    ]);
    const value = "1 to 63 letters, digits, spaces and ._:/@+-, with a letter or digit at both ends";
    expect(found).to.deep.include(["labels.team", `labels.team: expected ${value}, got "".`]);
  });

  it("is kept without what was not said, and its labels are written in one order", () => {
    expect(changeRecordOf({ labels: {} })).to.deep.equal({});
    expect(changeRecordOf({ changeId: "C", labels: { a: "b" } })).to.deep.equal({ changeId: "C", labels: { a: "b" } });
    expect(labelTexts({ team: "blue", env: "x" })).to.deep.equal(["env=x", "team=blue"]);
    expect(LabelText.is("team=blue")).to.equal(true);
    for (const text of ["team", "team=", "=blue", "team=a=b", "a,b=c"])
      expect(LabelText.is(text), text).to.equal(false);
  });
});
