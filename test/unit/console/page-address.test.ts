import { expect } from "chai";
import { fragmentOf, pageAddressOf } from "../../../src/console/model/page-address";

describe("the console's addresses", () => {
  it("lead back to the page they were made of", () => {
    for (const address of [
      { page: "UPGRADES" },
      { page: "UPGRADES", view: { status: "DRAFT", bundleId: "a b&c=d", resourceId: "#/é", page: 12 } },
      { page: "NEW" },
      { page: "UPGRADE", id: "6f1f-2a" },
    ] as const)
      expect(pageAddressOf(fragmentOf(address))).to.deep.equal(address);
    for (const fragment of ["#/upgrades/../x", "#/?", "#/?page=1", "#/?page=-3", "#/?page=x&status=", "#/?other=y"])
      expect(pageAddressOf(fragment), fragment).to.deep.equal({ page: "UPGRADES" });
  });
});
