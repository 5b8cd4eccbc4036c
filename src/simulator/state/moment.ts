import * as t from "io-ts";

/** Epoch milliseconds. */
export const Moment = t.number;
