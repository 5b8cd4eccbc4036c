import { expect } from "chai";
import fc from "fast-check";
import * as E from "fp-ts/Either";
import type * as t from "io-ts";
import { mostNestedErrors } from "../../../src/api/request-body";
import { describeValue, problemsOf, quote } from "../../../src/domain/decode";
import { ErrorBody } from "../../../src/domain/errors";
import { Task } from "../../../src/domain/spec/task";
import { UpgradeSpec } from "../../../src/domain/spec/upgrade-spec";
import type { Problem } from "../../../src/upgrades/service-error";

function problems(codec: t.Type<unknown, unknown, unknown>, value: unknown): Problem[] {
  const decoded = codec.decode(value);
  return E.isLeft(decoded) ? [...problemsOf(decoded.left, "The body", mostNestedErrors).problems] : [];
}

const spec = problems.bind(null, UpgradeSpec as t.Type<unknown, unknown, unknown>);
const valid = { bundleId: "b", resourceType: "CLUSTER", resourceUpgradeSpecs: [{ resourceId: "c" }] };

describe("problemsOf", () => {
  it("names a field by the path that the caller wrote", () => {
    const options = { preRemediationPowerAction: "POWER_OFF" };
    const [problem, ...others] = spec({
      ...valid,
      resourceUpgradeSpecs: [{ resourceId: "c" }, { resourceId: "d", hostosUpgradeOptionsSpec: options }],
    });
    expect(others).to.deep.equal([]);
    expect(problem?.path).to.equal("resourceUpgradeSpecs[1].hostosUpgradeOptionsSpec.preRemediationPowerAction");
    expect(problem?.code).to.equal("INVALID_FIELD");
    expect(problem?.message).to.contain(
      "expected one of POWER_OFF_VMS, SUSPEND_VMS, DO_NOT_CHANGE_VMS_POWER_STATE, SUSPEND_VMS_TO_MEMORY",
    );
    expect(problem?.message).to.contain('got "POWER_OFF"');
  });

  it("reports every wrong field, each once", () => {
    const found = spec({
      bundleId: 7,
      resourceType: "cluster",
      resourceUpgradeSpecs: [
        { resourceId: "", upgradeNow: "yes", scheduledTimestamp: "2026-12-01" },
        null,
        { resourceId: "c", hostosUpgradeOptionsSpec: { hostosUpgradeFailureAction: { retryCount: 101 } } },
      ],
      draftMode: null,
    });
    expect(found.map(({ path }) => path)).to.have.members([
      "bundleId",
      "resourceType",
      "resourceUpgradeSpecs[0].resourceId",
      "resourceUpgradeSpecs[0].upgradeNow",
      "resourceUpgradeSpecs[0].scheduledTimestamp",
      "resourceUpgradeSpecs[1]",
      "resourceUpgradeSpecs[2].hostosUpgradeOptionsSpec.hostosUpgradeFailureAction.retryCount",
      "draftMode",
    ]);
  });

  it("tells missing fields from wrong ones", () => {
    expect(spec({}).map(({ path, code }) => [path, code])).to.have.deep.members([
      ["bundleId", "MISSING_FIELD"],
      ["resourceType", "MISSING_FIELD"],
      ["resourceUpgradeSpecs", "MISSING_FIELD"],
    ]);
    expect(spec({ ...valid, bundleId: null })[0]?.code).to.equal("INVALID_FIELD");
  });

  it("words as many problems as an answer lists and counts the rest", () => {
    const decoded = UpgradeSpec.decode({
      ...valid,
      netvirtUpgradeUserInputSpecs: Array.from({ length: 240 }, () => ({
        netvirtHostClusterUpgradeSpecs: Array.from({ length: 1000 }, () => 1),
      })),
    });
    if (E.isRight(decoded)) throw new Error("the spec is wrong in 240,000 places");
    const { problems: listed, unlisted } = problemsOf(decoded.left, "The body", mostNestedErrors);
    expect(listed.length + unlisted).to.equal(240_000);
    expect(listed.map(({ path }) => path)).to.have.length(mostNestedErrors);
    expect(listed.at(-1)?.path).to.equal("netvirtUpgradeUserInputSpecs[0].netvirtHostClusterUpgradeSpecs[99]");
  });

  it("names the whole value where no field is at fault", () => {
    for (const [value, got] of [
      [[], "a list of 0 elements"],
      [null, "null"],
      ["x", '"x"'],
      [1, "1"],
    ] as const) {
      const [problem, ...others] = spec(value);
      expect(others).to.deep.equal([]);
      expect(problem).to.not.have.property("path");
      expect(problem?.message).to.equal(`The body: expected an object, got ${got}.`);
    }
  });

  it("says how many elements a list may have", () => {
    const [problem] = spec({ ...valid, resourceUpgradeSpecs: [] });
    expect(problem?.message).to.equal(
      "resourceUpgradeSpecs: expected a list of 1 to 256 elements, got a list of 0 elements.",
    );
  });

  it("follows recursive models and records", () => {
    const task = { id: "i", name: "n", type: "t", status: "Pending", creationTimestamp: "2026-12-01T09:30:00.000Z" };
    const subTask = { ...task, description: "d", status: "PENDING" };
    expect(
      problems(Task as t.Type<unknown, unknown, unknown>, {
        ...task,
        subTasks: [{ ...subTask, subTasks: [{ ...subTask, status: "Pending" }] }],
      }).map(({ path }) => path),
    ).to.deep.equal(["subTasks[0].subTasks[0].status"]);
    expect(
      problems(ErrorBody as t.Type<unknown, unknown, unknown>, { message: "m", context: { a: 1 } }).map((p) => p.path),
    ).to.deep.equal(["context.a"]);
  });

  it("shows no codec and stays short, whatever the value", () => {
    const codec = /Partial|Exact|=>|undefined|\[object/;
    // A message quotes the value, which may look like a codec by itself.
    const value = fc.jsonValue({ maxDepth: 4 }).filter((sent) => !codec.test(JSON.stringify(sent)));
    fc.assert(
      fc.property(value, fc.constantFrom(...Object.keys(valid)), (sent, field) => {
        for (const { path, message } of spec({ ...valid, [field]: sent })) {
          expect(path).to.satisfy((text: string) => text.startsWith(field));
          expect(message).to.not.match(codec);
          expect(message.length).to.be.below(500);
        }
      }),
    );
  });
});

describe("describeValue", () => {
  it("cuts long strings and says how long they are", () => {
    const text = describeValue("x".repeat(1_000_000));
    expect(text).to.contain("a string of 1000000 characters that begins with");
    expect(text.length).to.be.below(130);
    expect(quote("\u0000\n".repeat(500)).length).to.be.below(450);
  });

  it("names lists, objects and scalars", () => {
    expect([[1], {}, true, 1.5, null].map(describeValue)).to.deep.equal([
      "a list of 1 element",
      "an object",
      "true",
      "1.5",
      "null",
    ]);
  });
});
