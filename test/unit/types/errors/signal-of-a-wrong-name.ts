// expect TS2724
import { commitSignals } from "../../../../workflows/messages";

export const name = commitSignals;
