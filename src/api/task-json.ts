import * as E from "fp-ts/Either";
import type * as t from "io-ts";
import { SubTask, Task } from "../domain/task";
import type { Representation } from "./answer";

/** Of Tasks that several readers share, and of resources' SubTasks, for as long as somebody keeps these. */
const kept = new WeakMap<Task | SubTask, Buffer>();
const comma = Buffer.from(",");
/** As it can stand for the field only: in a text its quotes would be escaped. */
const noSubTasks = `"subTasks":[]`;

/**
 * A Task as `json(Task)` makes it, byte by byte. Of a running upgrade most resources are the same objects as when it was
 * last read, each with kilobytes of hosts: their bytes are made once.
 */
export const taskJson: Representation<Task> = {
  contentType: "application/json",
  codec: Task,
  toBytes: (task) => E.tryCatch(() => once(task, () => Buffer.concat(bytesOfTask(task))), E.toError),
};

function bytesOfTask(task: Task): readonly Buffer[] {
  return withParts(Task, task, (product) =>
    withParts(SubTask, product, (resource) => [once(resource, () => Buffer.from(jsonOf(SubTask, resource)))]),
  );
}

/** The bytes of an object of which those of its SubTasks are made one by one. */
function withParts<A extends Pick<SubTask, "subTasks">>(
  codec: t.Type<A, unknown, unknown>,
  whole: A,
  bytesOfPart: (part: SubTask) => readonly Buffer[],
): readonly Buffer[] {
  if (!whole.subTasks) return [Buffer.from(jsonOf(codec, whole))];
  const json = jsonOf(codec, { ...whole, subTasks: [] });
  const place = json.indexOf(noSubTasks) + noSubTasks.length - 1;
  const parts = whole.subTasks.flatMap((part, i) => [...(i > 0 ? [comma] : []), ...bytesOfPart(part)]);
  return [Buffer.from(json.slice(0, place)), ...parts, Buffer.from(json.slice(place))];
}

function once(value: Task | SubTask, make: () => Buffer): Buffer {
  const bytes = kept.get(value) ?? make();
  kept.set(value, bytes);
  return bytes;
}

/** Throws where the codec does not recognise the value: such an answer must not leave. */
function jsonOf<A>(codec: t.Type<A, unknown, unknown>, value: A): string {
  if (!codec.is(value)) throw new Error(`An answer is not a valid ${codec.name}`);
  return JSON.stringify(codec.encode(value));
}
