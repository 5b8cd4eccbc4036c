import { expect } from "chai";
import * as fc from "fast-check";
import { isHostOfSubnet, isIpv4Address, parseIpv4, prefixLength, sameSubnet } from "../../../src/domain/ipv4";

const octet = fc.integer({ min: 0, max: 255 });
const dotted = (address: number) => [24, 16, 8, 0].map((shift) => Math.floor(address / 2 ** shift) % 256).join(".");

describe("IPv4 addresses", () => {
  it("are read as the number that their four parts make", () => {
    fc.assert(
      fc.property(octet, octet, octet, octet, (...parts) => {
        const address = parseIpv4(parts.join("."));
        expect(address).to.equal(parts.reduce((sum, part, i) => sum + part * 256 ** (3 - i), 0));
        expect(dotted(address ?? -1)).to.equal(parts.join("."));
      }),
    );
  });

  it("are nothing else", () => {
    const wrong = [
      "",
      "1.2.3",
      "1.2.3.4.5",
      "256.0.0.1",
      "-1.0.0.1",
      "01.2.3.4",
      "1.2.3.4 ",
      " 1.2.3.4",
      "1..2.3",
      "1.2.3.4/24",
      "0x1.2.3.4",
      "::1",
      "1e1.0.0.0",
      "١.٢.٣.٤",
    ];
    for (const text of wrong) expect(parseIpv4(text), text).to.equal(undefined);
  });
});

describe("the prefix length of a subnet mask", () => {
  it("is the number of its leading ones, for every contiguous mask with room for a gateway", () => {
    for (let prefix = 1; prefix <= 31; prefix++)
      expect(prefixLength(dotted(2 ** 32 - 2 ** (32 - prefix))), `/${prefix}`).to.equal(prefix);
  });

  it("is nothing for any other address", () => {
    const masks = new Set(Array.from({ length: 31 }, (_, i) => 2 ** 32 - 2 ** (31 - i)));
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 32 - 1 }), (address) => {
        expect(prefixLength(dotted(address)) !== undefined).to.equal(masks.has(address));
      }),
      { examples: [[0], [2 ** 32 - 1], [0xff00ff00], [0x00ffffff], [0xfffffeff], [1]] },
    );
    for (const text of ["255.255.255", "24", "/24", "255.255.255.256", "mask"])
      expect(prefixLength(text), text).to.equal(undefined);
  });
});

describe("isIpv4Address", () => {
  it("knows an address that a machine can have", () => {
    for (const text of ["192.0.2.10", "10.0.0.1", "126.255.255.254", "223.255.255.254", "169.254.7.7"])
      expect(isIpv4Address(text), text).to.equal(true);
    for (const text of ["", "192.0.2", "192.0.2.01", "0.0.0.0", "0.1.2.3", "127.0.0.1", "::1"])
      expect(isIpv4Address(text), text).to.equal(false);
    for (const text of ["224.0.0.1", "239.1.2.3", "240.0.0.1", "255.255.255.254", "255.255.255.255"])
      expect(isIpv4Address(text), text).to.equal(false);
  });
});

describe("isHostOfSubnet", () => {
  it("tells a machine's address from the subnet's own and its broadcast address", () => {
    const of = (mask: string, ...addresses: string[]) => addresses.map((address) => isHostOfSubnet(address, mask));
    expect(of("255.255.255.0", "192.0.2.0", "192.0.2.1", "192.0.2.254", "192.0.2.255")).to.deep.equal([
      false,
      true,
      true,
      false,
    ]);
    expect(of("255.255.254.0", "192.0.2.255", "192.0.3.0", "192.0.3.255")).to.deep.equal([true, true, false]);
    expect(of("255.255.255.254", "192.0.2.0", "192.0.2.1")).to.deep.equal([true, true]);
    expect(of("255.0.255.0", "192.0.2.1")).to.deep.equal([false]);
    expect(of("255.255.255.0", "x")).to.deep.equal([false]);
  });
});

describe("sameSubnet", () => {
  it("tells whether addresses share a subnet", () => {
    expect(sameSubnet("192.0.2.10", "192.0.2.1", "255.255.255.0")).to.equal(true);
    expect(sameSubnet("192.0.2.10", "192.0.3.1", "255.255.255.0")).to.equal(false);
    expect(sameSubnet("192.0.2.10", "192.0.3.1", "255.255.254.0")).to.equal(true);
    expect(sameSubnet("192.0.2.10", "x", "255.255.255.0")).to.equal(false);
  });
});
