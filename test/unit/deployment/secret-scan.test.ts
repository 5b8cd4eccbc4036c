import { expect } from "chai";
import * as fc from "fast-check";
import { secretScan } from "../../support/secret-scan";

describe("the scan for secrets", () => {
  const secret = `"<&>Zebra 4711%20\\ü`;
  const scan = secretScan({ password: secret, other: "Zebra-of-another-zoo" });
  const xml = secret.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

  for (const [how, text] of [
    ["as it is", `x${secret}x`],
    ["in JSON", JSON.stringify({ password: secret })],
    ["in JSON in JSON", JSON.stringify({ text: JSON.stringify({ password: secret }) })],
    ["in XML", `<password>${xml}</password>`],
    ["in an attribute of XML", `<login password="${xml.replaceAll('"', "&quot;")}"/>`],
    ["in a URL", `https://example.com/?password=${encodeURIComponent(secret)}`],
    ["as hex", Buffer.from(secret).toString("hex")],
    ["as Basic credentials", `Basic ${Buffer.from(`user:${secret}`).toString("base64")}`],
    ["in a token", Buffer.from(JSON.stringify({ sub: 1 }) + secret + "!").toString("base64url")],
  ] as const)
    it(`finds one ${how}`, () => expect(scan(text)).to.deep.equal(["password"]));

  it("finds one in base64 between whatever stands before and after it", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), (before, after) => {
        expect(scan(Buffer.from(before + secret + after).toString("base64"))).to.include("password");
      }),
    );
  });

  it("finds the bytes of a key, and any line of a key as PEM", () => {
    const key = Buffer.from(Array.from({ length: 32 }, (_, i) => i * 7)).toString("base64");
    const pem = [
      "-----BEGIN PRIVATE KEY-----",
      "MIGHAgEAMBMGByqGSM49",
      "AgEGCCqGSM49AwEHBG0w",
      "-----END PRIVATE KEY-----",
    ];
    const found = secretScan({ key, tls: pem.join("\n") });
    expect(found(Buffer.from(key, "base64").toString("latin1"))).to.deep.equal(["key"]);
    expect(found(`${pem[2]}`)).to.deep.equal(["tls"]);
    expect(found(`${pem[0]} PRIVATE KEY`)).to.deep.equal([]);
  });

  it("finds nothing where nothing is, and refuses what would be found by chance", () => {
    expect(scan("Zebra 4711, Zebra-of-another")).to.deep.equal([]);
    for (const short of ["", "1234567", "-----BEGIN"]) expect(() => secretScan({ short })).to.throw("short");
  });
});
