import { expect } from "chai";
import { findForeignHeader } from "../../src/loopback";

describe("requests to a server of this machine", () => {
  for (const host of ["localhost", "LocalHost:8080", "127.0.0.1:1", "127.8.9.1", "[::1]", "[::1]:8080"])
    it(`are ours with the Host ${host}`, () => expect(findForeignHeader({ host })).to.equal(undefined));

  for (const host of [
    "evil.example",
    "evil.example:8080",
    "127.0.0.1.evil.example",
    "localhost.evil.example:8080",
    "127.0.0.1@evil.example",
    "evil.example#127.0.0.1",
    "127.0.0.1 evil.example",
    "192.168.1.2",
    "[fe80::1]",
    "0.0.0.0",
    "a",
    "",
  ])
    it(`are foreign with the Host ${JSON.stringify(host)}`, () =>
      expect(findForeignHeader({ host })).to.deep.equal({ header: "Host", value: host }));

  for (const origin of ["http://localhost:3000", "https://127.0.0.1", "http://[::1]:8233"])
    it(`are ours with the Origin ${origin}`, () => expect(findForeignHeader({ origin })).to.equal(undefined));

  for (const origin of ["http://evil.example", "https://127.0.0.1.evil.example", "null", "", "file://"])
    it(`are foreign with the Origin ${JSON.stringify(origin)}`, () =>
      expect(findForeignHeader({ host: "localhost", origin })).to.deep.equal({ header: "Origin", value: origin }));

  it("are ours without either", () => expect(findForeignHeader({})).to.equal(undefined));
});
