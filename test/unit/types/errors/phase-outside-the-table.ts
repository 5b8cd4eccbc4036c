// expect TS2345
import { statusOfPhase } from "../../../../src/domain/spec/upgrade";

export const statuses = statusOfPhase("DONE");
