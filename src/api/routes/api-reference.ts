import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import * as TE from "fp-ts/TaskEither";
import { pipe } from "fp-ts/function";
import * as t from "io-ts";
import type { AuthenticationMode } from "../../authentication/authentication";
import { unexpected } from "../../upgrades/service-error";
import { openapiDocument } from "../openapi/openapi-document";
import { bytes, json } from "../response";
import { noParameters, route, type Route } from "../route";

const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>API reference · Upgrade management</title>
    <link rel="stylesheet" href="/docs/api/swagger-ui.css">
    <link rel="icon" type="image/png" href="/docs/api/favicon-32x32.png">
  </head>
  <body>
    <div id="swagger-ui"></div>
    <script src="/docs/api/swagger-ui-bundle.js"></script>
    <script src="/docs/api/show-document.js"></script>
  </body>
</html>
`;

/** A file of its own, because the content security policy allows no script inside the page. */
const script = `SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#swagger-ui",
  deepLinking: true,
  // So many models are a wall: they are one click away.
  defaultModelsExpandDepth: 0,
  // The badge would ask a host on the internet.
  validatorUrl: null,
});
`;

/** The files of swagger-ui-dist that the page needs; nothing else of the package can be had. */
const swaggerFiles = {
  "swagger-ui.css": "text/css; charset=utf-8",
  "swagger-ui-bundle.js": "text/javascript; charset=utf-8",
  "favicon-32x32.png": "image/png",
} as const;

/**
 * `/openapi.json`, which describes the given routes and itself, and `/docs/api`, a page that shows it without any
 * outside host.
 */
export function apiReferenceRoutes(described: readonly Route[], version: string, mode: AuthenticationMode): Route[] {
  const document = route({
    ...documentation,
    path: "/openapi.json",
    operationId: "getOpenapi",
    summary: "This document",
    success: { status: 200, description: "OpenAPI 3.1", representation: json(t.UnknownRecord) },
    failures: [500],
    handle: () => TE.right(openapi),
  });
  const openapi = openapiDocument([...described, document], version, mode);
  return [
    document,
    file("/docs/api", "showDocumentation", "text/html; charset=utf-8", TE.right(Buffer.from(page))),
    file(
      "/docs/api/show-document.js",
      "getShowDocument",
      "text/javascript; charset=utf-8",
      TE.right(Buffer.from(script)),
    ),
    ...Object.entries(swaggerFiles).map(([name, contentType]) =>
      file(`/docs/api/${name}`, `get ${name}`, contentType, swaggerFile(name)),
    ),
  ];
}

const cachedForAnHour = {
  "cache-control": { description: "How long to cache it", of: () => "public, max-age=3600" },
};

const documentation = {
  method: "GET",
  access: "OPEN",
  role: "ANYONE",
  load: "NONE",
  tag: "documentation",
  request: noParameters,
} as const;

function file(path: string, operationId: string, contentType: string, content: TE.TaskEither<Error, Buffer>): Route {
  return route({
    ...documentation,
    path,
    operationId,
    summary: "A file of the API reference",
    documented: false,
    success: { status: 200, description: "Ok", representation: bytes(contentType), headers: cachedForAnHour },
    failures: [500],
    handle: () => pipe(content, TE.mapLeft(unexpected)),
  });
}

function swaggerFile(name: string): TE.TaskEither<Error, Buffer> {
  const folder = dirname(require.resolve("swagger-ui-dist/package.json"));
  return TE.tryCatch(
    () => readFile(join(folder, name)),
    (cause) => new Error(`${name} of swagger-ui-dist cannot be read`, { cause }),
  );
}
