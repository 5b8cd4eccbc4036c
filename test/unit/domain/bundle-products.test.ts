import { expect } from "chai";
import { componentOf, productsOf } from "../../../src/domain/plan/facts";

const bundle = (...types: string[]) => ({
  id: "b",
  components: types.map((type, i) => ({ id: `${type}-${i}`, type })),
});

describe("productsOf", () => {
  it("gives the products in the order in which they are upgraded, each once", () => {
    expect(productsOf(bundle("HOSTOS", "FIRMWARE", "MGMT", "NETVIRT", "HOSTOS"))).to.deep.equal([
      "NETVIRT",
      "MGMT",
      "HOSTOS",
    ]);
  });

  it("gives none of a bundle without components of them", () => {
    expect(productsOf({ id: "b" })).to.deep.equal([]);
    expect(productsOf(bundle("hostos"))).to.deep.equal([]);
  });
});

describe("componentOf", () => {
  it("gives the first component of the product", () => {
    expect(componentOf(bundle("MGMT", "HOSTOS", "HOSTOS"), "HOSTOS")).to.deep.equal({ id: "HOSTOS-1", type: "HOSTOS" });
    expect(componentOf(bundle("MGMT"), "HOSTOS")).to.equal(undefined);
  });
});
