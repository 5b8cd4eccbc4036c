import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import { hashPassword, isPassword, parsePasswordHash } from "../../../src/authentication/users";
import { hashPasswordCommand } from "../../../src/commands/hash-password";

const password = "correct horse battery staple";

describe("password hashes", () => {
  it("know their password and no other, and differ each time", async () => {
    const [first, second] = [await hashPassword(password), await hashPassword(password)];
    expect(first).to.not.equal(second);
    expect(first).to.not.contain(password);
    for (const hash of [first, second].map(parsePasswordHash)) {
      expect(await isPassword(password, hash!)).to.equal(true);
      for (const other of ["", `${password} `, password.toUpperCase()])
        expect(await isPassword(other, hash!), other).to.equal(false);
    }
  });

  it("take a password whichever way its characters are composed", async () => {
    const hash = parsePasswordHash(await hashPassword("Zürich am See"))!;
    expect(await isPassword("Zu\u0308rich am See", hash)).to.equal(true);
  });

  it("agree with the test vector of RFC 7914 for scrypt", async () => {
    // N = 16384, r = 8, p = 1, salt "SodiumChloride", 64 bytes; our shortest salt is 16 base64 digits long.
    const key =
      "7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2d5432955613f0fcf62d49705242a9af9e61e85dc0d651e40dfcf017b45575887";
    const parts = [Buffer.from("SodiumChloride"), Buffer.from(key, "hex")].map((bytes) =>
      bytes.toString("base64").replace(/=+$/, ""),
    );
    const hash = parsePasswordHash(`$scrypt$ln=14,r=8,p=1$${parts.join("$")}`);
    expect(await isPassword("pleaseletmein", hash!)).to.equal(true);
  });

  it("refuse what is no hash, and costs that are too small or too great", async () => {
    const good = await hashPassword(password);
    for (const wrong of [
      "",
      password,
      good.slice(1),
      `${good} `,
      good.replace("ln=15", "ln=13"),
      good.replace("ln=15", "ln=19"),
      good.replace("r=8", "r=1"),
      good.replace("p=1", "p=99"),
      good.replace("scrypt", "bcrypt"),
      good.slice(0, good.lastIndexOf("$")),
    ])
      expect(parsePasswordHash(wrong), wrong).to.equal(undefined);
  });
});

describe("hash-password", () => {
  async function run(input: string, isTTY = false) {
    const [output, errors] = [new PassThrough(), new PassThrough()];
    const code = await hashPasswordCommand({ input: Object.assign(Readable.from([input]), { isTTY }), output, errors });
    output.end();
    errors.end();
    return { code, out: await text(output), err: await text(errors) };
  }

  it("writes the hash of what it reads, with or without a last line break", async () => {
    for (const input of [password, `${password}\n`, `${password}\r\n`]) {
      const { code, out, err } = await run(input);
      expect({ code, err }).to.deep.equal({ code: 0, err: "" });
      expect(await isPassword(password, parsePasswordHash(out.trimEnd())!)).to.equal(true);
    }
  });

  it("refuses a terminal, several lines, and passwords that are too short or too long", async () => {
    for (const [input, isTTY] of [
      [password, true],
      ["two lines\nof a password", false],
      ["eleven char", false],
      ["x".repeat(1025), false],
      ["", false],
    ] as const) {
      const { code, out, err } = await run(input, isTTY);
      expect({ code, out }).to.deep.equal({ code: 1, out: "" });
      expect(err).to.match(/^.+\.\n$/);
    }
  });
});
