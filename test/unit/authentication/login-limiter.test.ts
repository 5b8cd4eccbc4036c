import { expect } from "chai";
import * as E from "fp-ts/Either";
import { networkOf } from "../../../src/authentication/client-address";
import { loginLimiter } from "../../../src/authentication/local-authentication";

describe("the login limiter", () => {
  it("counts an account from everywhere and a network for all accounts", async () => {
    const limiter = loginLimiter({ perAccount: 2, perAddress: 3, seconds: 60 });
    const attempt = async (name: string, address: string) => E.isRight(await limiter.attempt(name, address));
    expect(await attempt("alice", "192.0.2.1")).to.equal(true);
    expect(await attempt("alice", "192.0.2.2")).to.equal(true);
    expect(await attempt("alice", "192.0.2.3")).to.equal(false);
    expect(await attempt("bob", "192.0.2.1")).to.equal(true);
    expect(await attempt("carol", "192.0.2.1")).to.equal(true);
    expect(await attempt("dave", "192.0.2.1")).to.equal(false);
    expect(await attempt("dave", "192.0.2.4")).to.equal(true);
  });

  it("lets an account in again when its time is over", async () => {
    const limiter = loginLimiter({ perAccount: 1, perAddress: 100, seconds: 0.05 });
    await limiter.attempt("alice", "192.0.2.1");
    const deadline = Date.now() + 5_000;
    let outcome = await limiter.attempt("alice", "192.0.2.1");
    expect(outcome).to.deep.equal(E.left(1));
    while (E.isLeft(outcome) && Date.now() < deadline) {
      await new Promise((resolve) => setImmediate(resolve));
      outcome = await limiter.attempt("alice", "192.0.2.1");
    }
    expect(E.isRight(outcome)).to.equal(true);
  });

  it("takes the network of an IPv6 address, and the IPv4 address in one", () => {
    for (const [address, network] of [
      ["192.0.2.7", "192.0.2.7"],
      ["::ffff:192.0.2.7", "192.0.2.7"],
      ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
      ["2001:db8:1:2::9", "2001:db8:1:2::/64"],
      ["2001:0DB8:1:2::9", "2001:db8:1:2::/64"],
      ["2001:db8::1", "2001:db8:0:0::/64"],
      ["fe80::1%eth0", "fe80:0:0:0::/64"],
      ["::1", "0:0:0:0::/64"],
      ["", ""],
    ])
      expect(networkOf(address!), address).to.equal(network);
  });
});
