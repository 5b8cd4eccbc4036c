import { readdirSync } from "node:fs";
import * as E from "fp-ts/Either";
import * as TE from "fp-ts/TaskEither";
import { pipe } from "fp-ts/function";
import * as t from "io-ts";
import { unexpected } from "../../upgrades/service-error";
import type { ApiError } from "../api-error";
import { parameter } from "../parameters";
import { noParameters, route, type Route } from "../route";
import { isServable, StaticFile, staticFile } from "../static-file";

const open = {
  method: "GET",
  access: "OPEN",
  role: "ANYONE",
  load: "NONE",
  tag: "documentation",
  documented: false,
} as const;

const named = { path: { name: parameter(t.string, "Name of the document or image.") }, query: {}, headers: {} };

/** The documents of docs/ at `/docs`, as the build has rendered them into a folder. */
export function documentsRoutes(folder: string): Route[] {
  const files = readDocuments(folder);
  const read = (file: string, path: string): TE.TaskEither<ApiError, StaticFile> =>
    pipe(
      TE.fromEither(files),
      TE.mapLeft(unexpected),
      TE.chainW((all) => TE.fromNullable<ApiError>({ _tag: "PathNotFound", path })(all.get(file))),
    );
  const below = (path: string, extension: "html" | "png") =>
    route({
      ...open,
      ...description(`${path}/{name}`, extension),
      request: named,
      handle: ({ path: { name } }) => {
        const address = `${path}/${name}`;
        return read(`${address.slice("/docs/".length)}${extension === "html" ? ".html" : ""}`, address);
      },
    });
  return [
    route({
      ...open,
      ...description("/docs", "html"),
      request: noParameters,
      handle: () => read("index.html", "/docs"),
    }),
    route({
      ...open,
      ...description("/docs/style.css", "css"),
      request: noParameters,
      handle: () => read("style.css", "/docs/style.css"),
    }),
    below("/docs", "html"),
    below("/docs/decisions", "html"),
    below("/docs/images", "png"),
  ];
}

const contentTypes = { html: "text/html; charset=utf-8", css: "text/css; charset=utf-8", png: "image/png" };

function description(path: string, extension: keyof typeof contentTypes) {
  return {
    path,
    operationId: `get document ${path}`,
    summary: "A file of the documentation",
    failures: [404, 500],
    success: {
      status: 200,
      description: "Ok",
      representation: staticFile(contentTypes[extension]),
      isConditional: true,
      headers: { "cache-control": { description: "How long to cache it", of: () => "no-cache" } },
    },
  } as const;
}

/** The rendered files by their paths below the folder. Left where they are not built. */
function readDocuments(folder: string): E.Either<Error, ReadonlyMap<string, StaticFile>> {
  return E.tryCatch(
    () =>
      new Map(
        readdirSync(folder, { recursive: true, encoding: "utf8" })
          .filter(isServable)
          .map((name) => [name, new StaticFile(folder, name)]),
      ),
    (cause) => new Error("The documents are not built", { cause }),
  );
}
