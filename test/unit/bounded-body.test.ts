import { expect } from "chai";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { Pool } from "undici";
import { AnswerTooLargeError, readBoundedText } from "../../src/bounded-body";

const bound = { whose: "vc-01", bytes: 1024 * 1024 };

describe("an answer that is read up to a bound", () => {
  let server: Server;
  let url: string;
  let cut: Promise<unknown>;

  beforeEach(async () => {
    server = createServer((request, response) => {
      cut = once(response, "close");
      if (request.url === "/endless") {
        const more = () => {
          while (response.write(Buffer.alloc(65_536, "a")));
        };
        response.on("drain", more);
        more();
      } else if (request.url === "/packed")
        response.setHeader("content-encoding", "gzip").end(gzipSync(Buffer.alloc(bound.bytes + 1, "a")));
      else response.end(Buffer.alloc(bound.bytes - 3, "a").toString() + "€");
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  const rejection = async (reading: Promise<string>) => {
    const error: unknown = await reading.catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(AnswerTooLargeError);
    return error as AnswerTooLargeError;
  };

  it("is its text where it is not too long, also where a character is split", async () => {
    expect((await readBoundedText((await fetch(`${url}/exact`)).body, bound)).slice(-2)).to.equal("a€");
    async function* bytes() {
      for (const byte of Buffer.from("€")) yield await Promise.resolve(Uint8Array.of(byte));
    }
    expect(await readBoundedText(bytes(), bound)).to.equal("€");
    expect(await readBoundedText(null, bound)).to.equal("");
  });

  it("is refused as soon as it is too long, with whose it was, and the connection is let go", async () => {
    const error = await rejection(readBoundedText((await fetch(`${url}/endless`)).body, bound));
    expect(error.message).to.equal("The answer of vc-01 is longer than 1 MiB, and was not read completely");
    expect(error.code).to.equal("ANSWER_TOO_LARGE");
    await cut;
  });

  it("is refused so for the client of component managers too", async () => {
    const pool = new Pool(url);
    try {
      const { body } = await pool.request({ method: "GET", path: "/endless" });
      await rejection(readBoundedText(body, bound));
      await cut;
    } finally {
      await pool.destroy();
    }
  });

  it("is refused where answers that are read at the same time hold too much together, but for short ones", async () => {
    // The same bytes each time, so that the test holds none of them.
    const piece = new Uint8Array(bound.bytes);
    let [letGo, areAllThere] = [(_: Error): void => undefined, (): void => undefined];
    const gone = new Promise<never>((_, reject) => (letGo = reject));
    const allThere = new Promise<void>((resolve) => (areAllThere = resolve));
    let there = 0;
    async function* stalled() {
      for (let i = 0; i < 64; i++) yield await Promise.resolve(piece);
      if (++there === 4) areAllThere();
      await gone;
    }
    async function* long() {
      for (let i = 0; i < 2; i++) yield await Promise.resolve(piece);
    }
    const longest = { whose: "vc-01", bytes: 64 * bound.bytes };
    const stalling = Array.from({ length: 4 }, () => readBoundedText(stalled(), longest).catch(String));
    await allThere;
    const error = await rejection(readBoundedText(long(), { ...longest, whose: "vc-02" }));
    expect(error.message).to.equal(
      "The answer of vc-02 came with others of more than 256 MiB in all, and was not read completely",
    );
    expect(await readBoundedText((await fetch(`${url}/exact`)).body, bound)).to.have.length(bound.bytes - 2);
    letGo(new Error("gone"));
    expect(await Promise.all(stalling)).to.deep.equal(Array(4).fill("Error: gone"));
    expect(await readBoundedText(long(), longest)).to.have.length(2 * bound.bytes);
  });

  it("counts the bytes after decompression", async () => {
    await rejection(readBoundedText((await fetch(`${url}/packed`)).body, bound));
  });
});
