import type { SignalDefinition } from "@temporalio/workflow";
import { type Either, left, right } from "fp-ts/Either";
import type { ErrorBody } from "../../src/domain/errors";
import type { SkipPayload } from "../../src/domain/requests/upgrade-request";
import type { HostSkipAnswer, HostSkipQuestion } from "../messages";

/** What a host is left out by: the request, with the host as its component manager names it. */
type HostSkip = SkipPayload & Required<Pick<SkipPayload, "hostId">>;

/** The Workflow of a cluster in work, which alone knows which of its hosts have begun. */
interface AskedCluster {
  /** Sends it a question, which it answers by a Signal. */
  askToSkip(question: HostSkipQuestion): Promise<void>;
}

/** A resource whose lock the upgrade holds. */
export interface HeldResource extends AskedCluster {
  /** Sends it a Signal, where it has not ended. */
  tell(signal: SignalDefinition<[unknown]>, payload: unknown): Promise<void>;
  /** Ends it before it has begun. */
  release(): void;
}

/** Questions to clusters in work whether a host can still be left out, and their answers. */
export class HostSkips {
  private last = 0;
  private readonly open = new Map<number, { resourceId: string; settle: (answer?: HostSkipAnswer) => void }>();

  /**
   * Asks a cluster. Gives the request as the cluster has accepted it, or why it has not; undefined where it has ended without
   * an answer.
   */
  async ask(cluster: AskedCluster, skip: HostSkip): Promise<Either<ErrorBody, SkipPayload> | undefined> {
    const { resourceId, hostId: host, reason, requestedBy } = skip;
    const number = ++this.last;
    const answered = new Promise<HostSkipAnswer | undefined>((settle) => this.open.set(number, { resourceId, settle }));
    await cluster.askToSkip({ number, host, reason, ...(requestedBy !== undefined && { by: requestedBy }) });
    const answer = await answered;
    if (!answer) return undefined;
    const { hostId = host, hostName = skip.hostName } = answer;
    const refused = refusal(answer, hostName ?? hostId);
    return refused ? left(refused) : right({ ...skip, hostId, ...(hostName !== undefined && { hostName }) });
  }

  answered(answer: HostSkipAnswer): void {
    this.open.get(answer.number)?.settle(answer);
    this.open.delete(answer.number);
  }

  /** A cluster has ended, and answers nothing more. */
  ended(resourceId: string): void {
    for (const [number, one] of this.open) {
      if (one.resourceId !== resourceId) continue;
      one.settle();
      this.open.delete(number);
    }
  }
}

function refusal({ found }: HostSkipAnswer, host: string): ErrorBody | undefined {
  switch (found) {
    case "LEFT_OUT":
      return undefined;
    case "IN_WORK":
      return {
        errorCode: "HOST_IN_WORK",
        errorType: "CONFLICT",
        message: `Host ${host} is being upgraded, so it cannot be left out.`,
        remediationMessage: "Wait for its end. If it fails, leave it out then and retry the upgrade.",
        context: { path: "hostId" },
      };
    case "NOT_NEEDED":
      return {
        errorCode: "REQUEST_NOT_POSSIBLE",
        errorType: "CONFLICT",
        message: `Host ${host} will no longer be upgraded, so it cannot be left out.`,
        remediationMessage: "Read the upgrade's Task to see where it stands.",
        context: { path: "hostId" },
      };
    case "UNKNOWN":
      return {
        errorCode: "HOST_UNKNOWN",
        errorType: "INVALID_INPUT",
        message: `The cluster has no host ${host}.`,
        remediationMessage: "Name hosts by their id or name in `GET /v1/clusters/{id}`.",
        context: { path: "hostId" },
      };
  }
}
