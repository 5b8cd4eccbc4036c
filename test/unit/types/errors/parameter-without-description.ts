// expect TS2741
import * as t from "io-ts";
import type { ParametersByName } from "../../../../src/api/parameters";

export const query: ParametersByName = { sort: { codec: t.string } };
