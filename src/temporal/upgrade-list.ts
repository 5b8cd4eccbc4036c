import type { Client } from "@temporalio/client";
import { temporal } from "@temporalio/proto";
import { isRight } from "fp-ts/Either";
import * as TE from "fp-ts/TaskEither";
import pLimit from "p-limit";
import type { Logger } from "pino";
import { lostUpgrade } from "../domain/lost-upgrade";
import { Upgrade, type PageOfUpgrade } from "../domain/upgrade";
import type { PageRequest, UpgradeFilter } from "../upgrades/ports";
import type { ServiceError } from "../upgrades/service-error";
import { clusterWorkflowId } from "../../workflows/messages";
import { InFlight } from "./in-flight";
import { PayloadReader } from "./memo";
import { readError, writeError } from "./temporal-error";
import { visibilityOf, VisibilityReader, type Execution, type Visibility } from "./visibility-reader";
import { locksQuery, upgradesQuery } from "./visibility-query";

const { WorkflowExecutionStatus } = temporal.api.enums.v1;

/** The most upgrades of a list that is not paged, and of a page (docs/spec-gaps.md, paging). */
const largestPage = 1000;
/** Names in one filter; more would make it longer than Visibility takes. */
const namesPerQuery = 100;
/** How many different lists are read at the same time: more would only make each of them late. */
const concurrentLists = 4;

/** Lists of upgrades, answered by Temporal's Visibility alone: search attributes to filter, memos for the content. */
export class UpgradeList {
  private readonly reader: PayloadReader;
  private readonly visibility: Visibility;
  private readonly executions: VisibilityReader;
  private readonly reading = new InFlight<PageOfUpgrade>();
  private readonly limit = pLimit(concurrentLists);

  constructor(
    client: Client,
    private readonly log: Logger,
    /** Milliseconds for one call to Temporal, and for a whole list with the wait for its turn. */
    private readonly timeouts: { readonly call: number; readonly list: number },
  ) {
    this.reader = new PayloadReader(client.options.loadedDataConverter);
    this.visibility = visibilityOf(client, timeouts.call);
    this.executions = new VisibilityReader(this.visibility);
  }

  list(
    filter: UpgradeFilter,
    page: PageRequest = { pageNumber: 0, pageSize: largestPage },
  ): TE.TaskEither<ServiceError, PageOfUpgrade> {
    const query = upgradesQuery(filter);
    return TE.tryCatch(
      () =>
        this.reading.share(`${page.pageNumber}/${page.pageSize}/${query}`, () => {
          const deadline = Date.now() + this.timeouts.list;
          return this.limit(() => this.read(query, page, deadline));
        }),
      readError,
    );
  }

  lockHolders(resourceIds: readonly string[]): TE.TaskEither<ServiceError, ReadonlyMap<string, string>> {
    return TE.tryCatch(async () => {
      const resourceOf = new Map(resourceIds.map((id) => [clusterWorkflowId(id), id]));
      const workflowIds = [...resourceOf.keys()];
      const holders = new Map<string, string>();
      for (let i = 0; i < workflowIds.length; i += namesPerQuery) {
        const query = locksQuery(workflowIds.slice(i, i + namesPerQuery));
        for (const { execution, memo } of await this.executions.read(query, 0, namesPerQuery)) {
          const resourceId = resourceOf.get(execution?.workflowId ?? "");
          const upgradeId = await this.reader.field(memo, "upgradeId");
          if (resourceId !== undefined && typeof upgradeId === "string") holders.set(resourceId, upgradeId);
        }
      }
      return holders;
    }, writeError);
  }

  private async read(query: string, { pageNumber, pageSize }: PageRequest, deadline: number): Promise<PageOfUpgrade> {
    const total = await this.visibility.count(query, deadline);
    const first = pageNumber * pageSize;
    const executions =
      first < total ? await this.executions.read(query, first, Math.min(pageSize, total - first), deadline) : [];
    const elements = await Promise.all(executions.map((execution) => this.element(execution)));
    return {
      elements: elements.filter((element) => element !== undefined),
      pageMetadata: { pageNumber, pageSize, totalElements: total, totalPages: Math.ceil(total / pageSize) },
    };
  }

  private async element({ execution, status, closeTime, memo }: Execution): Promise<Upgrade | undefined> {
    const stored = Upgrade.decode(await this.reader.field(memo, "upgrade"));
    if (!isRight(stored)) {
      this.log.warn({ taskId: execution?.workflowId }, "An upgrade's memo cannot be read; it is left out of the list");
      return undefined;
    }
    const upgrade = stored.right;
    const running =
      status === WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_RUNNING || upgrade.endTime !== undefined;
    return running ? upgrade : lostUpgrade(upgrade, isoOf(closeTime));
  }
}

function isoOf(time: Execution["closeTime"]): string {
  return new Date(Number(time?.seconds ?? 0) * 1000 + Math.floor((time?.nanos ?? 0) / 1e6)).toISOString();
}
