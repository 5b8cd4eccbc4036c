// expect TS2345
import { object } from "../../../../src/api/openapi/component";
import { model, OneOf } from "../../../../src/domain/codec";

const Part = model({ status: OneOf("DONE", "LEFT") }, { attempt: OneOf("FIRST", "SECOND") });

export const described = object(Part, "A part.", { status: "State of the part." });
