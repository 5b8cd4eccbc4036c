// expect TS2345
import * as TE from "fp-ts/TaskEither";
import * as t from "io-ts";
import { json } from "../../../../src/api/response";
import { noParameters, route } from "../../../../src/api/route";

export const forgotten = route({
  method: "GET",
  path: "/v1/forgotten",
  access: "READ",
  operationId: "readForgotten",
  tag: "tasks",
  summary: "A route that does not say who may use it",
  request: noParameters,
  success: { status: 200, description: "Ok", representation: json(t.UnknownRecord) },
  failures: [500],
  handle: () => TE.right({}),
});
