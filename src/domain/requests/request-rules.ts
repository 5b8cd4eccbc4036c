import { chain, type Either } from "fp-ts/Either";
import { pipe } from "fp-ts/function";
import type * as t from "io-ts";
import type { ErrorBody } from "../errors";
import type { CommitSpec } from "../plan/schedule";
import type { AskedAcknowledgement } from "./acknowledge";
import { decideApprove, decideReject } from "./approvals";
import {
  AcknowledgePayload,
  ApprovePayload,
  CommitPayload,
  decideAcknowledge,
  decideCommit,
  decidePause,
  decidePrechecks,
  decideResolve,
  decideResume,
  decideRetry,
  decideRoomToSkip,
  type OperatorRequest,
  PlainPayload,
  RejectPayload,
  type RequestContext,
  RetryPayload,
  SkipPayload,
} from "./upgrade-request";
import { decideRetryScope, decideSkip, type RetryScope, type SkipAsked } from "./skip";

/** What each request carries. */
export interface RequestPayloads extends Record<
  Exclude<OperatorRequest, "commit" | "approve" | "reject" | "acknowledge" | "retry" | "skip">,
  PlainPayload
> {
  readonly commit: CommitPayload;
  readonly approve: ApprovePayload;
  readonly reject: RejectPayload;
  readonly acknowledge: AcknowledgePayload;
  readonly retry: RetryPayload;
  readonly skip: SkipPayload;
}

/** What a decision may depend on: the time, the finding or the parts that are asked for, and who asks. */
export type AskedFor = CommitSpec &
  Omit<AskedAcknowledgement, "resourceId" | "hostId"> &
  SkipAsked &
  RetryScope &
  Pick<PlainPayload, "requestedBy">;

/** A request of operators: what it does, as the Temporal Web UI says it, what it carries, and whether it is accepted. */
export interface RequestRule<P> {
  readonly description: string;
  readonly payload: t.Type<P, unknown, unknown>;
  readonly decide: (asked: AskedFor, context: RequestContext) => Either<ErrorBody, unknown>;
}

/**
 * All that operators can ask of an upgrade. Each request is a Signal and an Update of its name, which differ only in how
 * they are answered (docs/decisions/0039).
 */
export const requestRules: { readonly [N in OperatorRequest]: RequestRule<RequestPayloads[N]> } = {
  commit: {
    description:
      "Commits a draft, or work that missed its start, or reschedules a scheduled upgrade. " +
      'No input, {"upgradeNow": true} or {"scheduledTimestamp": "2026-12-01T09:30:00Z"}; ' +
      '{"maintenanceWindow": "IGNORE", "reason": "why"} ignores maintenance windows from now on.',
    payload: CommitPayload,
    decide: decideCommit,
  },
  pause: plain("Starts no more hosts; hosts in work finish.", decidePause),
  resume: plain("Continues a paused upgrade.", decideResume),
  prechecks: plain("Runs the prechecks of a draft again.", decidePrechecks),
  retry: {
    description:
      "Retries a failed upgrade; hosts at the target are skipped. No input for everything that is not done, or " +
      '{"resourceIds": ["id"]} for some resources, {"skipResources": ["id"]} to leave some out.',
    payload: RetryPayload,
    decide: (scope, context) =>
      pipe(
        decideRetry(context),
        chain(() => decideRetryScope(scope, context)),
      ),
  },
  resolve: plain("Gives up a failed upgrade; it cannot be retried afterwards.", decideResolve),
  approve: {
    description:
      'Approves an upgrade that somebody else requested. {"requestedBy": "name"}, and optionally a "comment".',
    payload: ApprovePayload,
    decide: decideApprove,
  },
  reject: {
    description: 'Ends an upgrade that waits for approvals. {"requestedBy": "name", "comment": "why"}.',
    payload: RejectPayload,
    decide: decideReject,
  },
  acknowledge: {
    description:
      "Lets this upgrade continue despite a finding of its prechecks. " +
      '{"requestedBy": "name", "code": "CLUSTER_BUSY", "resourceId": "id", "reason": "why"}; ' +
      'with "hostId" if the finding is about a host, and optionally "until".',
    payload: AcknowledgePayload,
    decide: decideAcknowledge,
  },
  skip: {
    description:
      "Leaves out a cluster, or a host of it, that has not begun or has failed. " +
      '{"resourceId": "id", "reason": "why"}, and a "hostId" for one host.',
    payload: SkipPayload,
    decide: (asked, context) =>
      pipe(
        decideRoomToSkip(context),
        chain(() => decideSkip(asked, context)),
      ),
  },
};

/** A request that carries no more than who makes it. */
function plain(
  description: string,
  decide: (context: RequestContext) => Either<ErrorBody, void>,
): RequestRule<PlainPayload> {
  return {
    description: `${description} No input.`,
    payload: PlainPayload,
    decide: (_, context) => decide(context),
  };
}
