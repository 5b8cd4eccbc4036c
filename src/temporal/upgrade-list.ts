import type { Client } from "@temporalio/client";
import { temporal } from "@temporalio/proto";
import { isRight } from "fp-ts/Either";
import * as TE from "fp-ts/TaskEither";
import type { Logger } from "pino";
import { lostUpgrade } from "../domain/lost-upgrade";
import type { PageOfUpgrade, Upgrade } from "../domain/upgrade";
import type { PageRequest, UpgradeFilter } from "../upgrades/ports";
import type { ServiceError } from "../upgrades/service-error";
import { PayloadReader, StoredUpgrade } from "./memo";
import { readError, writeError } from "./temporal-error";
import { locksQuery, upgradesQuery } from "./visibility-query";

const { WorkflowExecutionStatus } = temporal.api.enums.v1;

/** The most upgrades of a list that is not paged, and of a page (docs/spec-gaps.md, paging). */
const largestPage = 1000;
/** How many places in lists are remembered, so that reading page by page does not start from the front each time. */
const rememberedPlaces = 200;
/** Names in one filter; more would make it longer than Visibility takes. */
const namesPerQuery = 100;

type Execution = NonNullable<
  Awaited<ReturnType<Client["workflowService"]["listWorkflowExecutions"]>>["executions"]
>[number];

/** Lists of upgrades, answered by Temporal's Visibility alone: search attributes to filter, memos for the content. */
export class UpgradeList {
  private readonly reader: PayloadReader;
  private readonly places = new Map<string, Uint8Array>();

  constructor(
    private readonly client: Client,
    private readonly log: Logger,
    private readonly deadline: () => number,
  ) {
    this.reader = new PayloadReader(client.options.loadedDataConverter);
  }

  list(filter: UpgradeFilter, page?: PageRequest): TE.TaskEither<ServiceError, PageOfUpgrade> {
    return TE.tryCatch(() => this.read(upgradesQuery(filter), page), readError);
  }

  lockHolders(locks: readonly string[]): TE.TaskEither<ServiceError, ReadonlyMap<string, string>> {
    return TE.tryCatch(async () => {
      // A lock is held by running the Workflow of that ID.
      const workflowIds = [...new Set(locks)];
      const holders = new Map<string, string>();
      for (let i = 0; i < workflowIds.length; i += namesPerQuery) {
        const { executions } = await this.page(locksQuery(workflowIds.slice(i, i + namesPerQuery)), largestPage);
        for (const { execution, memo } of executions) {
          const { upgradeId } = await this.reader.fields(memo);
          if (execution?.workflowId && typeof upgradeId === "string") holders.set(execution.workflowId, upgradeId);
        }
      }
      return holders;
    }, writeError);
  }

  private async read(query: string, page?: PageRequest): Promise<PageOfUpgrade> {
    const { pageNumber, pageSize } = page ?? { pageNumber: 0, pageSize: largestPage };
    const [executions, total] = await Promise.all([this.pageAt(query, pageNumber, pageSize), this.count(query)]);
    const elements = await Promise.all(executions.map((execution) => this.element(execution)));
    return {
      elements: elements.filter((element) => element !== undefined),
      pageMetadata: { pageNumber, pageSize, totalElements: total, totalPages: Math.ceil(total / pageSize) },
    };
  }

  /** Visibility knows only "the next page", so a page is reached from the nearest place before it that is known. */
  private async pageAt(query: string, pageNumber: number, pageSize: number): Promise<Execution[]> {
    const place = (number: number) => `${pageSize}/${number}/${query}`;
    let at = pageNumber;
    while (at > 0 && !this.places.has(place(at))) at--;
    for (;;) {
      const { executions, next } = await this.page(query, pageSize, at === 0 ? undefined : this.places.get(place(at)));
      if (next.length > 0) this.remember(place(at + 1), next);
      if (at === pageNumber) return executions;
      if (next.length === 0) return [];
      at++;
    }
  }

  private remember(place: string, token: Uint8Array): void {
    this.places.delete(place);
    this.places.set(place, token);
    const oldest = this.places.keys().next().value;
    if (this.places.size > rememberedPlaces && oldest !== undefined) this.places.delete(oldest);
  }

  private async page(query: string, pageSize: number, nextPageToken?: Uint8Array) {
    const { namespace } = this.client.options;
    const request = { namespace, query, pageSize, ...(nextPageToken && { nextPageToken }) };
    const answer = await this.client.withDeadline(this.deadline(), () =>
      this.client.workflowService.listWorkflowExecutions(request),
    );
    return { executions: answer.executions, next: answer.nextPageToken };
  }

  private async count(query: string): Promise<number> {
    const { namespace } = this.client.options;
    const { count } = await this.client.withDeadline(this.deadline(), () =>
      this.client.workflowService.countWorkflowExecutions({ namespace, query }),
    );
    return Number(count);
  }

  private async element({ execution, status, closeTime, memo }: Execution): Promise<Upgrade | undefined> {
    const stored = StoredUpgrade.decode(await this.reader.fields(memo));
    if (!isRight(stored)) {
      this.log.warn({ taskId: execution?.workflowId }, "An upgrade's memo cannot be read; it is left out of the list");
      return undefined;
    }
    const { upgrade } = stored.right;
    const running =
      status === WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_RUNNING || upgrade.endTime !== undefined;
    return running ? upgrade : lostUpgrade(upgrade, isoOf(closeTime));
  }
}

function isoOf(time: Execution["closeTime"]): string {
  return new Date(Number(time?.seconds ?? 0) * 1000 + Math.floor((time?.nanos ?? 0) / 1e6)).toISOString();
}
