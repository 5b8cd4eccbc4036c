import type * as t from "io-ts";
import type { CallOperation } from "./call-observation";
import type { CredentialTries } from "./component-manager-access";
import { DriverError, type DriverErrorKind, type MeaningInWork } from "./driver-error";

/** What was being asked, of which component manager, and what answers to it may mean. */
export interface Asked {
  readonly managerId: string;
  /** Completes the sentence "could not …". */
  readonly what: string;
  /** Whether it changes something, so that a refusal may be of this request alone. */
  readonly changes?: boolean;
  /** Whether what it names comes and goes (a task, a draft, a report), so that a 404 in the product's own words is an answer. */
  readonly mayBeMissing?: boolean;
  /** What "not in this state" and "in use" mean for what was asked; default: another operation on a cluster. */
  readonly busy?: BusyClassification;
  readonly tries?: CredentialTries;
}

/** What callers say of a call, as far as its errors are judged by it. */
interface ClassifiedCall {
  readonly what: string;
  /** It starts or makes a check and changes nothing, though it is no GET. */
  readonly onlyChecks?: true;
  /** What it names comes and goes, so that "not found" is an answer. */
  readonly mayBeMissing?: true;
}

/** What a call asks for, as its errors are judged by it. */
export function askedBy(
  { what, onlyChecks, mayBeMissing }: ClassifiedCall,
  operation: CallOperation,
  of: Pick<Asked, "managerId" | "busy" | "tries">,
): Asked & { readonly changes: boolean } {
  return { ...of, what, changes: operation === "change" && onlyChecks !== true, mayBeMissing: mayBeMissing === true };
}

/** One row of a product's table (docs/failures.md, outages). */
export interface Classification {
  readonly kind: DriverErrorKind;
  readonly code: string;
  readonly remediation: string;
  /** What it could be while something is in work; absent where it is the same then. */
  readonly inWork?: MeaningInWork;
}

/** How it is called that the component manager is at work on the same thing. */
export type BusyClassification = Pick<Classification, "code" | "remediation">;

/** What came back, as far as an error tells it. */
interface Answered {
  /** The answer after "… answered", such as `503` or `NotAuthenticated`. */
  readonly answer: string;
  readonly status?: number | undefined;
  readonly errorType?: string | undefined;
  readonly causes?: readonly string[];
}

/** The error of an answer that was judged. */
export function judged(
  asked: Asked,
  classification: Classification,
  { answer, status, errorType, causes = [] }: Answered,
) {
  const { managerId, what, tries } = asked;
  return new DriverError({
    ...classification,
    message: `Could not ${what}: ${managerId} answered ${answer}${causes[0] ? `: ${causes[0]}` : "."}`,
    ...(status !== undefined && { status }),
    ...(errorType !== undefined && { errorType }),
    causes,
    ...(classification.inWork === "CREDENTIALS" && tries && { tries }),
  });
}

/** What the products have in common; each adds rows of its own. */
export interface CommonClassifications {
  readonly unreachable: Classification;
  readonly credentials: Classification;
  readonly unauthorized: Classification;
  readonly notFound: Classification;
  readonly broken: Classification;
  readonly refused: Classification;
}

/** `manager`: what it is called in sentences. */
export function commonClassifications(manager: string): CommonClassifications {
  return {
    unreachable: {
      kind: "transient",
      code: "COMPONENT_MANAGER_UNREACHABLE",
      remediation: `Check that the ${manager} is running and reachable from the workers, then retry the upgrade.`,
    },
    credentials: {
      kind: "permanent",
      code: "AUTHENTICATION",
      remediation: `Correct the user name or password of this ${manager} in the inventory, then retry the upgrade.`,
      inWork: "CREDENTIALS",
    },
    unauthorized: {
      kind: "permanent",
      code: "AUTHORIZATION",
      remediation: `Give the service's user the lifecycle privileges in the ${manager}, then retry the upgrade.`,
      inWork: "CREDENTIALS",
    },
    notFound: {
      kind: "permanent",
      code: "RESOURCE_NOT_FOUND",
      remediation: `Check that everything that the request and the inventory name exists in the ${manager}, then retry the upgrade.`,
      inWork: "AWAY",
    },
    broken: {
      kind: "permanent",
      code: "COMPONENT_MANAGER_ERROR",
      remediation: `Check the ${manager}'s log for this error, then retry the upgrade.`,
      inWork: "AWAY",
    },
    refused: {
      kind: "permanent",
      code: "COMPONENT_MANAGER_REFUSED",
      remediation: `Correct what the ${manager} objects to, then retry the upgrade.`,
    },
  };
}

/** What an HTTP status means of every product, where nothing else in the answer says more. */
export function classifyStatus(common: CommonClassifications, status: number): Classification {
  const { unreachable, credentials, unauthorized, notFound, broken, refused } = common;
  if ([408, 429, 502, 503, 504].includes(status)) return unreachable;
  if (status === 401) return credentials;
  if (status === 403) return unauthorized;
  if (status === 404) return notFound;
  return status >= 500 ? broken : refused;
}

/** The judgement of an answer that is not the product's own, but of whatever stands before a service that is away. */
export function notItsOwn(classification: Classification): Classification {
  return { inWork: "AWAY", ...classification };
}

/** The judgement of an answer in the product's own words, which holds in work too. */
export function itsOwnWord({ kind, code, remediation }: Classification): Classification {
  return { kind, code, remediation };
}

/** The body of an answer that is no JSON, such as a page of whatever stands before a service: no codec accepts it. */
export class NotJson {
  readonly isJson = false;
}

/** The JSON of an answer; NotJson where it is none; undefined where it is empty. */
export function parseAnswer(text: string): unknown {
  if (text === "") return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return new NotJson();
  }
}

/** The fields that a codec objects to, at most three. */
export function problemsOf(errors: t.Errors): string {
  const paths = errors.map(({ context }) =>
    context.map(({ key }) => key).filter((key) => key !== "" && !/^\d+$/.test(key)),
  );
  return [...new Set(paths.map((path) => path.join(".") || "the body"))].slice(0, 3).join(", ");
}
