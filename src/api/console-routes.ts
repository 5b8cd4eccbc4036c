import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { pipe } from "fp-ts/function";
import * as TE from "fp-ts/TaskEither";
import { ConsoleConfig } from "../domain/console-config";
import { unexpected } from "../upgrades/service-error";
import { bytes, json } from "./answer";
import type { AuthenticationMode } from "./authentication";
import { noParameters, route, type Route } from "./route";

/** Where the built console is, and what it has to know of this installation. */
export interface ConsoleFiles {
  /** Absolute path of the folder that the build has made. */
  readonly folder: string;
  readonly temporalNamespace: string;
  readonly temporalUiUrl?: string;
}

/** The files of the console by their path; nothing else of its folder can be had. */
const files = {
  "/": ["index.html", "text/html; charset=utf-8"],
  "/console/console.js": ["console.js", "text/javascript; charset=utf-8"],
  "/console/style.css": ["style.css", "text/css; charset=utf-8"],
  "/console/icon.svg": ["icon.svg", "image/svg+xml"],
} as const;

const open = {
  method: "GET",
  access: "OPEN",
  role: "ANYONE",
  tag: "console",
  request: noParameters,
  documented: false,
  failures: [500],
} as const;

/** The operators' page at `/` with its files, and what it has to know first. All that it shows it asks of the API. */
export function consoleRoutes(
  { folder, ...installation }: ConsoleFiles,
  authenticationMode: AuthenticationMode,
): Route[] {
  const config = route({
    ...open,
    path: "/console-config.json",
    operationId: "getConsoleConfig",
    summary: "What the console has to know first",
    success: { status: 200, description: "Ok", representation: json(ConsoleConfig) },
    handle: () => TE.right({ ...installation, authenticationMode }),
  });
  return [
    config,
    ...Object.entries(files).map(([path, [name, contentType]]) =>
      route({
        ...open,
        path,
        operationId: `get console ${name}`,
        summary: "A part of the console",
        success: { status: 200, description: "Ok", representation: bytes(contentType) },
        handle: () =>
          pipe(
            TE.tryCatch(
              () => readFile(join(folder, name)),
              (cause) => new Error(`${name} of the console cannot be read`, { cause }),
            ),
            TE.mapLeft(unexpected),
          ),
      }),
    ),
  ];
}
