import * as t from "io-ts";
import { Identifier, ListOf, model, WholeNumber } from "./codec";
import type { ErrorBody } from "./errors";
import { Reason } from "./spec/change-record";
import { Timestamp, toEpochMilliseconds } from "./timestamp";

/**
 * An emergency stop: nothing begins any more, in one domain or everywhere. Each domain has one of its own, and there is one for
 * everything, so that nobody lifts or narrows by a freeze what somebody else has frozen. Memo and input of its Workflow.
 */
export const Freeze = model(
  { reason: t.string, frozenBy: t.string, since: Timestamp },
  {
    /** Id of the domain; absent means everything. */
    domain: t.string,
    /** When it is lifted by itself. */
    until: Timestamp,
  },
);
export type Freeze = t.TypeOf<typeof Freeze>;

/** Body of `PUT /v1/freeze`. Without domains everything is frozen. */
export const FreezeSpec = model(
  { reason: Reason },
  { domains: ListOf(Identifier, { min: 1, max: 100 }), until: Timestamp },
);
export type FreezeSpec = t.TypeOf<typeof FreezeSpec>;

/** What is frozen now. `hostsInWork`: how many hosts of running upgrades are still finished. */
export const FreezeStatus = model({ frozen: t.boolean, freezes: t.array(Freeze) }, { hostsInWork: WholeNumber });
export type FreezeStatus = t.TypeOf<typeof FreezeStatus>;

/** The Workflow ID of a domain's freeze, or of the one for everything: that it runs is the freeze. */
export function freezeWorkflowId(domain?: string): string {
  return domain === undefined ? "freeze" : `freeze/${domain}`;
}

/** The Workflow IDs of all freezes that concern something of these domains. */
export function freezesOf(domains: readonly string[]): readonly string[] {
  return [freezeWorkflowId(), ...[...new Set(domains)].map(freezeWorkflowId)];
}

/** Whether a freeze or a hold is in force at this time (epoch milliseconds), also where no worker has ended its Workflow. */
export function isInForce({ until }: { readonly until?: string }, now: number): boolean {
  return until === undefined || toEpochMilliseconds(until) > now;
}

/** Why nothing may begin: who has frozen what, and why. */
export function frozenError({ reason, frozenBy, since, domain, until }: Freeze): ErrorBody {
  const what = domain === undefined ? "all upgrades" : `domain ${domain}`;
  const end = until === undefined ? "" : `, until ${until}`;
  return {
    errorCode: "FROZEN",
    errorType: "CONFLICT",
    message: `${frozenBy} froze ${what} at ${since}${end}: ${reason.replace(/[.\s]+$/, "")}.`,
    remediationMessage: "Wait until the freeze is lifted (DELETE /v1/freeze), or ask who froze it.",
    context: {
      frozenBy: frozenBy.slice(0, 200),
      reason: reason.slice(0, 200),
      since,
      ...(domain !== undefined && { domain: domain.slice(0, 200) }),
      ...(until !== undefined && { until }),
    },
  };
}

/** Nothing begins either where nobody can tell whether there is a freeze. `why` without a full stop. */
export function freezeUnreadable(why: string): ErrorBody {
  return {
    errorCode: "FREEZE_UNREADABLE",
    errorType: "FAILED_DEPENDENCY",
    message: `Whether upgrades are frozen or held could not be read, so nothing begins: ${why}.`,
    remediationMessage:
      "Check that Temporal answers the worker and that it has the payload keys; the upgrade continues automatically.",
  };
}
