import { readdirSync } from "node:fs";
import * as E from "fp-ts/Either";
import * as TE from "fp-ts/TaskEither";
import { pipe } from "fp-ts/function";
import { type AuthenticationMode, roleCovers } from "../../authentication/authentication";
import { ConsoleConfig, ConsoleSession, type ConsoleSignIn } from "../../domain/console-config";
import { unexpected } from "../../upgrades/service-error";
import { json } from "../response";
import { noParameters, route, type Route } from "../route";
import { isServable, StaticFile, staticFile } from "../static-file";

/** Where the built console is, and what it has to know of this installation. */
export interface ConsoleInstallation {
  /** Absolute path of the folder that the build has made. */
  readonly folder: string;
  readonly temporalNamespace: string;
  readonly temporalUiUrl?: string;
  /** Where people sign in at an issuer; without it they bring its token. */
  readonly signIn?: ConsoleSignIn;
}

const own = {
  method: "GET",
  tag: "console",
  request: noParameters,
  load: "NONE",
  documented: false,
  failures: [500],
} as const;
const open = { ...own, access: "OPEN", role: "ANYONE" } as const;

/** The operators' page at `/` with its files, and what it has to know first. All that it shows it asks of the API. */
export function consoleRoutes(
  { folder, ...installation }: ConsoleInstallation,
  authenticationMode: AuthenticationMode,
): Route[] {
  const files = readConsoleFiles(folder);
  const page = pipe(
    files,
    E.map(([first]) => first),
    E.filterOrElse(
      (file) => file !== undefined,
      () => new Error("The console is not built"),
    ),
  );
  return [
    route({
      ...open,
      path: "/console-config.json",
      operationId: "getConsoleConfig",
      summary: "Settings of the console",
      success: { status: 200, description: "Ok", representation: json(ConsoleConfig) },
      handle: () => TE.right({ ...installation, authenticationMode }),
    }),
    route({
      ...own,
      access: "READ",
      role: "VIEWER",
      path: "/console-session.json",
      operationId: "getConsoleSession",
      summary: "The signed-in user",
      success: { status: 200, description: "Ok", representation: json(ConsoleSession) },
      handle: ({ caller, role }) =>
        TE.right({
          caller,
          role: role ?? "no role",
          mayOperate: roleCovers(role, "OPERATOR"),
          mayApprove: roleCovers(role, "APPROVER"),
        }),
    }),
    fileRoute("/", "text/html; charset=utf-8", page),
    ...(E.isRight(files) ? files.right : [])
      .filter(({ name }) => name !== startPage)
      .map((file) => fileRoute(`/console/${file.name}`, file.contentType, E.right(file))),
  ];
}

function fileRoute(path: string, contentType: string, file: E.Either<Error, StaticFile>): Route {
  return route({
    ...open,
    path,
    operationId: `get console ${path}`,
    summary: "A file of the console",
    success: {
      status: 200,
      description: "Ok",
      representation: staticFile(contentType),
      isConditional: true,
      headers: {
        "cache-control": {
          description: "How long to cache it",
          // What the page loads is named after its content, so that it never changes under its name.
          of: ({ name }) => (name === startPage ? "no-cache" : "public, max-age=31536000, immutable"),
        },
      },
    },
    handle: () => pipe(TE.fromEither(file), TE.mapLeft(unexpected)),
  });
}

/** The page itself: its name does not change, what it loads is named after its content. */
const startPage = "index.html";

/** Left where the start page or the folder cannot be read. */
function readConsoleFiles(folder: string): E.Either<Error, readonly StaticFile[]> {
  const isAsset = (name: string) => name !== startPage && isServable(name);
  return E.tryCatch(
    () => [startPage, ...readdirSync(folder).filter(isAsset)].map((name) => new StaticFile(folder, name)),
    (cause) => new Error("The console is not built", { cause }),
  );
}
