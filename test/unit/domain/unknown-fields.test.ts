import { expect } from "chai";
import fc from "fast-check";
import { UpgradeSpec } from "../../../src/domain/spec/upgrade-spec";
import { unknownFields } from "../../../src/domain/unknown-fields";
import { arbitraryOf } from "./arbitrary-of";

describe("unknownFields", () => {
  it("names every field that decoding drops, by its path", () => {
    const given = {
      bundleId: "b",
      bundelId: "b",
      resourceType: "CLUSTER",
      resourceUpgradeSpecs: [
        Object.fromEntries([
          ["resourceId", "a"],
          ["toString", "x"],
        ]),
        { resourceId: "b", personalitySpec: { hardwareSupportSpecs: [{ packageSpec: { size: 1 } }] } },
      ],
    };
    expect(unknownFields(UpgradeSpec, given).map(({ path }) => path)).to.deep.equal([
      "bundelId",
      "resourceUpgradeSpecs[0].toString",
      "resourceUpgradeSpecs[1].personalitySpec.hardwareSupportSpecs[0].packageSpec.size",
    ]);
  });

  it("finds none in what a codec has made, and looks into nothing that does not decode", () => {
    fc.assert(
      fc.property(arbitraryOf(UpgradeSpec), (spec) => {
        expect(unknownFields(UpgradeSpec, spec)).to.deep.equal([]);
      }),
    );
    for (const value of [null, [], "text", { resourceUpgradeSpecs: "none" }])
      expect(unknownFields(UpgradeSpec, value)).to.deep.equal([]);
  });
});
