import * as t from "io-ts";
import { model } from "../../domain/codec";

/** What the service gives to somebody who signs in (docs/authentication.md). */
export const TokenPair = model({ accessToken: t.string, refreshToken: model({ id: t.string }, {}) }, {});
