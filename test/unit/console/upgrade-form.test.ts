import { expect } from "chai";
import fc from "fast-check";
import * as E from "fp-ts/Either";
import { type AnyWords, clusterWords, requestWords } from "../../../src/console/labels/field-labels";
import {
  formOf,
  formPathOf,
  leftOut,
  problemsOfError,
  readRequest,
  requestOf,
} from "../../../src/console/model/form-request";
import { changed, clusterFieldGroups, emptyForm, type UpgradeForm } from "../../../src/console/model/upgrade-form";
import { shapeOf } from "../../../src/domain/codec";
import type { Cluster } from "../../../src/domain/spec/cluster";
import { ResourceUpgradeSpec, UpgradeSpec } from "../../../src/domain/spec/upgrade-spec";
import { arbitraryOf } from "../domain/arbitrary-of";

const cluster = (id: string, kind?: Cluster["kind"]): Cluster => ({
  id,
  name: id,
  domain: { id: "d", name: "d" },
  platformVersion: "9.0",
  componentManagerId: "cm",
  ...(kind && { kind }),
});
const clusters = [cluster("image", "IMAGE"), cluster("baseline", "BASELINE"), cluster("unknown")];
const filled: UpgradeForm = {
  ...emptyForm,
  bundleId: "b",
  clusters: [{ resourceId: "image" }, { resourceId: "baseline" }],
};
const requestFrom = (form: UpgradeForm) => {
  const made = requestOf(form, clusters);
  if (E.isLeft(made)) throw new Error(JSON.stringify(made.left));
  return made.right;
};

/** Requests that the form can show: of clusters, each named once, some of a kind that is known. */
const supported = fc
  .tuple(
    arbitraryOf(UpgradeSpec, { depth: 6 }),
    fc.uniqueArray(fc.oneof(fc.constantFrom("image", "baseline", "unknown"), fc.uuid()), {
      minLength: 1,
      maxLength: 5,
    }),
    fc.array(arbitraryOf(ResourceUpgradeSpec, { depth: 6 }), { minLength: 1, maxLength: 2 }),
  )
  .map(([spec, ids, fields]) => ({
    ...spec,
    resourceType: "CLUSTER" as const,
    resourceUpgradeSpecs: ids.map((resourceId, i) => ({ ...fields[i % fields.length], resourceId })),
  }));

describe("the console's form of a new upgrade", () => {
  it("asks for nothing that was not filled in", () => {
    expect(requestFrom(filled)).to.deep.equal({
      bundleId: "b",
      resourceType: "CLUSTER",
      draftMode: true,
      resourceUpgradeSpecs: [
        { resourceId: "image", upgradeNow: true },
        { resourceId: "baseline", upgradeNow: true },
      ],
    });
  });

  it("gives back every request that it is filled with", () => {
    fc.assert(
      fc.property(supported, (spec) => {
        const form = formOf(spec, clusters);
        if (E.isLeft(form)) throw new Error(form.left);
        expect(requestFrom(form.right)).to.deep.equal(spec);
        // By way of the text that it shows, too.
        const read = readRequest(JSON.stringify(spec), clusters);
        expect(E.isRight(read) && read.right).to.deep.equal({ form: form.right, unknown: [] });
      }),
      { numRuns: 300 },
    );
  });

  it("asks once what clusters share", () => {
    const same = { enableQuickboot: true };
    const form = formOf(
      {
        bundleId: "b",
        resourceType: "CLUSTER",
        resourceUpgradeSpecs: [{ resourceId: "a" }, { resourceId: "c", ...same }, { resourceId: "d", ...same }],
      },
      [],
    );
    expect(E.isRight(form) && [form.right.common, form.right.clusters]).to.deep.equal([
      same,
      [{ resourceId: "a", own: {} }, { resourceId: "c" }, { resourceId: "d" }],
    ]);
  });

  it("keeps the hosts of a cluster with that cluster, and what it shares with the others shared", () => {
    const hosts = { exclude: ["esx-1"] };
    const spec = {
      bundleId: "b",
      resourceType: "CLUSTER" as const,
      resourceUpgradeSpecs: [
        { resourceId: "a", toVersion: "9", hosts },
        { resourceId: "c", toVersion: "9" },
      ],
    };
    const form = formOf(spec, []);
    if (E.isLeft(form)) throw new Error(form.left);
    expect(form.right.clusters).to.deep.equal([{ resourceId: "a", hosts }, { resourceId: "c" }]);
    expect(requestFrom(form.right)).to.deep.equal(spec);
    expect(formPathOf(form.right, "resourceUpgradeSpecs[0].hosts.exclude[0]")).to.equal("clusters[0].hosts.exclude[0]");
    const noneChosen = requestOf(changed(form.right, ["clusters", 0, "hosts"], { include: [] }), []);
    expect(noneChosen).to.deep.equal(
      E.left([{ path: "resourceUpgradeSpecs[0].hosts.include", message: "Choose at least one host, or all." }]),
    );
  });

  it("leaves out for a cluster what its kind has not, and says so", () => {
    const options = {
      enforceHclValidation: true,
      disableHac: true,
      preRemediationPowerAction: "SUSPEND_VMS_TO_MEMORY",
    };
    const form = {
      ...filled,
      common: {
        personalitySpec: { personalityId: "p" },
        customIsoSpec: { id: "i" },
        enableQuickboot: true,
        hostosUpgradeOptionsSpec: options,
      },
    };
    expect(requestFrom(form).resourceUpgradeSpecs).to.deep.equal([
      {
        resourceId: "image",
        personalitySpec: { personalityId: "p" },
        enableQuickboot: true,
        hostosUpgradeOptionsSpec: options,
      },
      { resourceId: "baseline", customIsoSpec: { id: "i" }, hostosUpgradeOptionsSpec: { disableHac: true } },
    ]);
    expect(Object.fromEntries(leftOut(form, clusters))).to.deep.equal({
      image: ["customIsoSpec"],
      baseline: [
        "personalitySpec",
        "hostosUpgradeOptionsSpec.enforceHclValidation",
        "enableQuickboot",
        "hostosUpgradeOptionsSpec.preRemediationPowerAction",
      ],
    });
  });

  it("says what is missing or out of bounds, by the path of the request", () => {
    const count = ["common", "hostosUpgradeOptionsSpec", "hostosUpgradeFailureAction", "retryCount"];
    const wrong = changed(changed(filled, count, 101), ["common", "scheduledTimestamp"], "");
    const made = requestOf({ ...wrong, bundleId: "" }, clusters);
    const paths = E.isLeft(made) ? made.left.map(({ path }) => path) : [];
    expect(paths).to.deep.equal([
      "bundleId",
      "resourceUpgradeSpecs[0].scheduledTimestamp",
      "resourceUpgradeSpecs[0].hostosUpgradeOptionsSpec.hostosUpgradeFailureAction.retryCount",
      "resourceUpgradeSpecs[1].scheduledTimestamp",
      "resourceUpgradeSpecs[1].hostosUpgradeOptionsSpec.hostosUpgradeFailureAction.retryCount",
    ]);
    expect(requestOf({ ...filled, clusters: [] }, clusters)).to.deep.equal(
      E.left([{ path: "resourceUpgradeSpecs", message: "Choose at least one cluster." }]),
    );
  });

  it("takes an emptied field out of the request, and keeps a cluster's own settings when none is left", () => {
    const path = ["clusters", 1, "own", "hostosUpgradeOptionsSpec", "disableDpm"];
    const own = changed(filled, path, true);
    expect(own.clusters[1]).to.deep.equal({
      resourceId: "baseline",
      own: { hostosUpgradeOptionsSpec: { disableDpm: true } },
    });
    expect(changed(own, path, undefined).clusters[1]).to.deep.equal({ resourceId: "baseline", own: {} });
    expect(changed(changed(filled, path, true), ["clusters", 1, "own"], undefined)).to.deep.equal(filled);
    const inputs = changed(filled, ["mgmtUpgradeUserInputSpecs", 0, "temporaryNetwork", "gateway"], "g");
    expect(changed(inputs, ["mgmtUpgradeUserInputSpecs", 0, "temporaryNetwork", "gateway"], undefined)).to.deep.equal({
      ...filled,
      mgmtUpgradeUserInputSpecs: [{}],
    });
  });

  it("finds the field of a problem that the service tells", () => {
    const form = { ...filled, clusters: [{ resourceId: "image" }, { resourceId: "baseline", own: {} }] };
    for (const [path, at] of [
      ["bundleId", "bundleId"],
      ["resourceUpgradeSpecs", "clusters"],
      ["resourceUpgradeSpecs[1].resourceId", "clusters[1]"],
      ["resourceUpgradeSpecs[0].personalitySpec.personalityId", "common.personalitySpec.personalityId"],
      ["resourceUpgradeSpecs[1].toVersion", "clusters[1].own.toVersion"],
      ["netvirtUpgradeUserInputSpecs[0].netvirtId", "netvirtUpgradeUserInputSpecs[0].netvirtId"],
    ] as const)
      expect(formPathOf(form, path), path).to.equal(at);
    const leaf = { message: "m", remediationMessage: "r", context: { path: "p" } };
    expect(problemsOfError({ message: "2", nestedErrors: [leaf, { message: "of no field" }] })).to.deep.equal([
      { path: "p", message: "m", remediation: "r" },
    ]);
  });

  it("has every field of the interface on the page", () => {
    const shown = [...Object.values(clusterFieldGroups).flat(), "resourceId", "hosts"].sort();
    const shape = shapeOf(ResourceUpgradeSpec);
    expect(shape.kind === "object" && Object.keys({ ...shape.required, ...shape.optional }).sort()).to.deep.equal(
      shown,
    );
    const labels = (words: Readonly<Record<string, AnyWords>>): string[] =>
      Object.values(words).flatMap(({ label, hint, fields = {} }) => [label, hint, ...labels(fields)]);
    expect([...labels(clusterWords), ...labels(requestWords)]).to.not.include("");
  });

  it("tells what is wrong with a pasted text, and which of its fields nobody knows", () => {
    const read = (text: string) => readRequest(text, clusters);
    const told = (text: string) => {
      const outcome = read(text);
      return E.isLeft(outcome) ? outcome.left.join(" ") : "";
    };
    expect(told("{")).to.contain("not JSON");
    expect(told("{}")).to.contain("bundleId is required").and.contain("resourceUpgradeSpecs is required");
    const spec = { bundleId: "b", resourceType: "DOMAIN", resourceUpgradeSpecs: [{ resourceId: "a" }] };
    expect(told(JSON.stringify(spec))).to.contain("DOMAIN");
    const twice = {
      ...spec,
      resourceType: "CLUSTER",
      resourceUpgradeSpecs: [{ resourceId: "a" }, { resourceId: "a" }],
    };
    expect(told(JSON.stringify(twice))).to.contain("a is named twice");
    const typo = read(JSON.stringify({ ...spec, resourceType: "CLUSTER", draftmode: true }));
    expect(E.isRight(typo) && typo.right.unknown).to.deep.equal(["draftmode"]);
  });
});
