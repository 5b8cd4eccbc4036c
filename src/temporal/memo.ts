import type { LoadedDataConverter, Payload } from "@temporalio/common";
import { getOrElseW } from "fp-ts/Either";
import * as t from "io-ts";
import { model } from "../domain/codec";
import { SubTask, Task } from "../domain/task";
import { Timestamp } from "../domain/timestamp";
import { Upgrade } from "../domain/upgrade";

/** A child's run as the memo of its upgrade keeps it. */
const ChildRun = model({ resourceId: t.string, workflowId: t.string, runId: t.string }, {});

/** The memo of an upgrade, as read back; see `UpgradeMemo` in workflows/messages.ts. */
export const StoredUpgrade = model(
  { upgrade: Upgrade, task: Task },
  // The server drops a memo field that is an empty list.
  { children: t.array(ChildRun), requestDigest: t.string, publishedAt: Timestamp },
);
export type StoredUpgrade = t.TypeOf<typeof StoredUpgrade>;

/** The memo of a resource's Workflow, as read back; see `ResourceMemo` in workflows/messages.ts. */
export const StoredResource = model({ upgradeId: t.string, subTask: SubTask }, {});
export type StoredResource = t.TypeOf<typeof StoredResource>;

/** How often a Workflow had written its memo when it answered; see `Published` in workflows/messages.ts. */
const published = { published: t.number };

/** What the `taskWithChildren` Query answers. */
export const StoredTask = model({ task: Task }, { children: t.array(ChildRun), ...published });
export type TaskWithChildren = t.TypeOf<typeof StoredTask>;

/** What the `subTask` Query answers. */
export const AnsweredSubTask = t.intersection([SubTask, model({}, published)]);

/** A memo with its payloads as they are stored. */
export type Memo = { fields?: Record<string, Payload> | null } | null | undefined;

/** Reads payloads that the client library leaves encoded in raw answers. */
export class PayloadReader {
  constructor(private readonly converter: LoadedDataConverter) {}

  /** One field of a memo; undefined where it is not there. */
  field(memo: Memo, name: string): Promise<unknown> {
    return this.value(memo?.fields?.[name]);
  }

  /** Every field of a memo; one that cannot be read is left out, and the memo's codec says what is missing. */
  async fields(memo: Memo): Promise<Record<string, unknown>> {
    const entries = await Promise.all(
      Object.entries(memo?.fields ?? {}).map(async ([key, payload]) => [key, await this.value(payload)] as const),
    );
    return Object.fromEntries(entries);
  }

  async value(payload: Payload | null | undefined): Promise<unknown> {
    if (!payload) return undefined;
    let decoded = [payload];
    for (const codec of [...this.converter.payloadCodecs].reverse()) decoded = await codec.decode(decoded);
    const [first] = decoded;
    return first && this.converter.payloadConverter.fromPayload(first);
  }
}

/**
 * What our own Workflows have written, or undefined where it is something else. What is valid as it stands is not copied,
 * which would cost more than all the rest of a read; fields that a codec does not know are dropped from the answer.
 */
export function readAs<A>(codec: t.Type<A, unknown, unknown>, value: unknown): A | undefined {
  return codec.is(value) ? value : getOrElseW(() => undefined)(codec.decode(value));
}
