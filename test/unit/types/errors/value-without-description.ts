// expect TS2345
import { enumeration } from "../../../../src/api/openapi/component";
import { OneOf } from "../../../../src/domain/codec";

export const described = enumeration(OneOf("DONE", "LEFT"), "State of a part.", { DONE: "Nothing is left." });
