import { readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import * as E from "fp-ts/Either";
import type { Representation, Shorter } from "./response";

const contentTypes: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
};

/** Whether a file of this name can be served. */
export function isServable(name: string): boolean {
  return extname(name) in contentTypes;
}

/** A file that the build has made. It is read once: a build that is replaced meanwhile cannot be served half and half. */
export class StaticFile {
  readonly bytes: Buffer;
  readonly contentType: string;
  private compressed: readonly Shorter[] | undefined;

  /** `name` may begin with a folder. Throws where the file cannot be read. */
  constructor(
    folder: string,
    readonly name: string,
  ) {
    this.bytes = readFileSync(join(folder, name));
    this.contentType = contentTypes[extname(name)] ?? "";
  }

  /** The encodings that are shorter than the file, made when they are first asked for. */
  get shorter(): readonly Shorter[] {
    return (this.compressed ??= shorterThan(this.bytes));
  }
}

/** A file's bytes, compressed for clients that accept that. */
export function staticFile(contentType: string): Representation<StaticFile> {
  return { contentType, toBytes: ({ bytes }) => E.right(bytes), shorter: ({ shorter }) => shorter };
}

function shorterThan(bytes: Buffer): Shorter[] {
  const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };
  const all: Shorter[] = [
    { encoding: "br", bytes: brotliCompressSync(bytes, quality) },
    { encoding: "gzip", bytes: gzipSync(bytes) },
  ];
  return all.filter((one) => one.bytes.length < bytes.length);
}
