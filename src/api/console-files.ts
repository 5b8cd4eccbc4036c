import { readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import * as E from "fp-ts/Either";
import type { Representation, Shorter } from "./answer";

/** A file of the built console, as it is served. */
export interface ConsoleFile {
  readonly name: string;
  readonly contentType: string;
  readonly bytes: Buffer;
  readonly shorter: readonly Shorter[];
}

/** The page itself: its name does not change, what it loads is named after its content. */
export const startPage = "index.html";

const contentTypes: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

/**
 * Reads the files that the build has made, once: a build that is replaced meanwhile cannot be served half and half.
 * Left where the start page or the folder cannot be read.
 */
export function readConsoleFiles(folder: string): E.Either<Error, readonly ConsoleFile[]> {
  return E.tryCatch(
    () => [startPage, ...readdirSync(folder).filter(isAsset)].map((name) => readConsoleFile(folder, name)),
    (cause) => new Error("The console is not built", { cause }),
  );
}

/** A console file's bytes, compressed for clients that take that. */
export function fileBytes(contentType: string): Representation<ConsoleFile> {
  return { contentType, toBytes: ({ bytes }) => E.right(bytes), shorter: ({ shorter }) => shorter };
}

function isAsset(name: string): boolean {
  return name !== startPage && extname(name) in contentTypes;
}

function readConsoleFile(folder: string, name: string): ConsoleFile {
  const bytes = readFileSync(join(folder, name));
  return { name, bytes, contentType: contentTypes[extname(name)] ?? "", shorter: shorterThan(bytes) };
}

function shorterThan(bytes: Buffer): Shorter[] {
  const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };
  const all: Shorter[] = [
    { encoding: "br", bytes: brotliCompressSync(bytes, quality) },
    { encoding: "gzip", bytes: gzipSync(bytes) },
  ];
  return all.filter((one) => one.bytes.length < bytes.length);
}
