import type { Client } from "@temporalio/client";
import * as E from "fp-ts/Either";
import type * as TE from "fp-ts/TaskEither";
import { failedDependency, temporalNotSetUp, type ServiceError } from "../upgrades/service-error";
import { searchAttributes } from "../../workflows/search-attributes";
import { searchAttributeTypes } from "./search-attribute-types";
import { grpcCode } from "./temporal-error";

/** What the probes of a container wait for is asked often and must be answered soon (milliseconds). */
const answerMilliseconds = 2500;

/** Where the upgrades are to run: the address and namespace of the configuration. */
interface Place {
  readonly address: string;
  readonly namespace: string;
}

/**
 * Whether upgrades can run: Temporal answers, and the namespace has every search attribute. Otherwise the error is
 * `TEMPORAL_UNREACHABLE` or `TEMPORAL_NOT_SET_UP`, with all that an operator needs to know.
 */
export function temporalReadiness(client: Client, { address, namespace }: Place): TE.TaskEither<ServiceError, void> {
  return async () => {
    let timer: NodeJS.Timeout | undefined;
    // The library's own deadline is kept a second or two late where nothing listens.
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`no answer within ${answerMilliseconds} ms`)), answerMilliseconds);
    });
    try {
      const lacking = await Promise.race([whatIsLacking(client, namespace), late]);
      return lacking === undefined ? E.right(undefined) : E.left(temporalNotSetUp(lacking));
    } catch {
      return E.left(
        failedDependency({
          code: "TEMPORAL_UNREACHABLE",
          message: `Temporal at ${address} does not answer.`,
          remediation: "Start it, or set TEMPORAL_ADDRESS to the host:port of a running server.",
        }),
      );
    } finally {
      clearTimeout(timer);
    }
  };
}

/** Why upgrades cannot run yet and what to do about it, in one line for the log of a start; undefined where they can. */
export async function startWarning(client: Client, place: Place): Promise<string | undefined> {
  const ready = await temporalReadiness(client, place)();
  if (E.isRight(ready)) return undefined;
  if (ready.left._tag === "TemporalNotSetUp") {
    const { address, namespace } = place;
    const command = `TEMPORAL_ADDRESS=${address} TEMPORAL_NAMESPACE=${namespace} sh config/temporal/setup-namespace.sh`;
    return `Temporal at ${address} is not set up for upgrades: ${ready.left.lacking}. Set it up with: ${command}`;
  }
  return `Temporal at ${place.address} does not answer: start it, or set TEMPORAL_ADDRESS to a running server`;
}

/** What the namespace lacks, in words; undefined where it has everything. Rejects where Temporal does not answer. */
async function whatIsLacking(client: Client, namespace: string): Promise<string | undefined> {
  try {
    const [present] = await client.withDeadline(Date.now() + answerMilliseconds, () =>
      Promise.all([attributesOf(client, namespace), client.workflowService.describeNamespace({ namespace })]),
    );
    const missing = searchAttributes.filter(
      ({ name, type }) => present && present[name] !== searchAttributeTypes[type].indexed,
    );
    if (missing.length === 0) return undefined;
    const names = missing.map(({ name, type }) => `${name} (${searchAttributeTypes[type].named})`);
    return `namespace ${namespace} lacks the search attributes ${names.join(", ")}`;
  } catch (error) {
    if (grpcCode(error) === 5) return `namespace ${namespace} is missing`;
    throw error;
  }
}

/** Undefined where the service is not allowed to ask, as on servers that others operate: then the start itself tells. */
async function attributesOf(client: Client, namespace: string) {
  try {
    return (await client.connection.operatorService.listSearchAttributes({ namespace })).customAttributes;
  } catch (error) {
    if ([7, 12].includes(grpcCode(error) ?? 0)) return undefined;
    throw error;
  }
}
