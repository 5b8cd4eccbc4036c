import { expect } from "chai";
import fc from "fast-check";
import { isIpv4Address, prefixLength, sameSubnet } from "../../../src/domain/ipv4";

const dotted = (bits: number) => [24, 16, 8, 0].map((shift) => Math.floor(bits / 2 ** shift) % 256).join(".");

describe("IPv4", () => {
  it("knows an address that a machine can have", () => {
    for (const text of ["192.0.2.10", "10.0.0.1", "255.255.255.254"]) expect(isIpv4Address(text), text).to.equal(true);
    for (const text of [
      "",
      "192.0.2",
      "192.0.2.256",
      "192.0.2.01",
      "a.b.c.d",
      "192.0.2.1 ",
      "1.2.3.4.5",
      "0.0.0.0",
      "::1",
    ]) {
      expect(isIpv4Address(text), text).to.equal(false);
    }
  });

  it("turns each of the 32 masks into its prefix length", () => {
    for (let length = 1; length <= 32; length++) {
      expect(prefixLength(dotted(2 ** 32 - 2 ** (32 - length))), String(length)).to.equal(length);
    }
  });

  it("refuses every other text as a mask", () => {
    for (const text of ["0.0.0.0", "255.0.255.0", "255.255.255.1", "/24", "24", ""]) {
      expect(prefixLength(text), text).to.equal(undefined);
    }
    fc.assert(
      fc.property(fc.nat({ max: 2 ** 32 - 1 }), (bits) => {
        const length = prefixLength(dotted(bits));
        return length === undefined || 2 ** 32 - 2 ** (32 - length) === bits;
      }),
    );
  });

  it("tells whether addresses share a subnet", () => {
    expect(sameSubnet("192.0.2.10", "192.0.2.1", "255.255.255.0")).to.equal(true);
    expect(sameSubnet("192.0.2.10", "192.0.3.1", "255.255.255.0")).to.equal(false);
    expect(sameSubnet("192.0.2.10", "192.0.3.1", "255.255.254.0")).to.equal(true);
    expect(sameSubnet("192.0.2.10", "x", "255.255.255.0")).to.equal(false);
  });
});
