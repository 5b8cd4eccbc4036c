// expect TS2551
import { requestSignals } from "../../../../workflows/messages";

export const signal = requestSignals.comit;
