import { unsupportedOptions } from "../../baseline/unsupported-options";
import { findingsOf } from "../precheck";
import type { BaselinePrecheck } from "./baseline-precheck";

/** Nothing is asked for that cannot be done to hosts without an image. */
export const optionsSupported: BaselinePrecheck = {
  type: "OPTIONS_SUPPORTED",
  name: "Options supported",
  description: "Every option of the upgrade can be carried out on a cluster that is managed by baselines.",
  needs: [],
  run: (input) => {
    const { target } = input;
    const findings = unsupportedOptions(target.options ?? {}).map(({ option, reason }) => ({
      code: "OPTION_NOT_SUPPORTED",
      message: `${option} does not apply to cluster ${target.cluster.name}: ${reason}`,
      remediation: `Cancel this upgrade and start a new one of this cluster without ${option}.`,
    }));
    return Promise.resolve(findingsOf(input, findings));
  },
};
