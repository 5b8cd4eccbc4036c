// expect TS2345
import { statusOfPhase } from "../../../src/domain/upgrade-status";

export const statuses = statusOfPhase("DONE");
