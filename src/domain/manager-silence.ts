import type { ErrorBody } from "./errors";

/** Codes of what a component manager answers to a user or password that it does not take. */
const refusals = ["AUTHENTICATION", "AUTHORIZATION"] as const;
type Refusal = (typeof refusals)[number];

/** Why a component manager did not tell what it was asked; `reason` has no full stop. */
export interface ManagerSilence {
  readonly code: "COMPONENT_MANAGER_UNREACHABLE" | Refusal;
  readonly reason: string;
}

/** What an error of a read says: the manager refuses the service's user, or whatever else, which counts as no answer. */
export function silenceOf(error: unknown): ManagerSilence {
  const reason = (error instanceof Error ? error.message : String(error)).replace(/\.$/, "");
  return { code: refusalOf(error) ?? "COMPONENT_MANAGER_UNREACHABLE", reason };
}

/** Whether a login was refused: asking again at once would only count against the account. */
export function isLoginRefused(error: unknown): error is Error {
  return refusalOf(error) === "AUTHENTICATION";
}

function refusalOf(error: unknown): Refusal | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  return refusals.find((refusal) => refusal === error.code);
}

/** The silence for the operator. `then`: what to do when its cause is gone, such as `read again`. */
export function silenceError(
  componentManagerId: string,
  { code, reason }: ManagerSilence,
  then: string,
): Required<Pick<ErrorBody, "errorCode" | "errorType" | "message" | "remediationMessage">> {
  const manager = `Component manager ${componentManagerId}`;
  const words = {
    COMPONENT_MANAGER_UNREACHABLE: {
      message: `${manager} did not answer as expected: ${reason}.`,
      remediationMessage: `Check that ${componentManagerId} is running and reachable, then ${then}.`,
    },
    AUTHENTICATION: {
      message: `${manager} rejected the service's user name and password: ${reason}.`,
      remediationMessage: `Correct the user name or password of ${componentManagerId} in the inventory, then ${then}.`,
    },
    AUTHORIZATION: {
      message: `${manager} does not allow this to the service's user: ${reason}.`,
      remediationMessage: `Give the service's user the lifecycle privileges in ${componentManagerId}, then ${then}.`,
    },
  }[code];
  return { errorCode: code, errorType: "FAILED_DEPENDENCY", ...words };
}
