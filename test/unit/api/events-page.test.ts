import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createContext, runInContext } from "node:vm";
import { expect } from "chai";
import fc from "fast-check";
import type { Task } from "../../../src/domain/spec/task";
import { taskUpdate } from "../../../src/domain/task/task-change";
import { applyProgress, initialTask } from "../../../src/domain/task/task-progress";
import { arbitraryPlan, arbitraryTaskProgress } from "../domain/arbitrary-progress";

type Listener = (event: { readonly data: string }) => void;

const page = readFileSync(join(__dirname, "../../../docs/events.md"), "utf8");
const code = /```js\n(.*?)```/s.exec(page)?.[1] ?? "";

/** The client of docs/events.md, with an EventSource that a test speaks for. */
function documentedClient() {
  const listeners = new Map<string, Listener>();
  let closed = false;
  class EventSource {
    addEventListener(name: string, listener: Listener): void {
      listeners.set(name, listener);
    }
    close(): void {
      closed = true;
    }
  }
  const context = createContext({ EventSource, id: "id" });
  runInContext(code, context);
  return {
    tell: (name: string, data: unknown) => listeners.get(name)?.({ data: JSON.stringify(data) }),
    task: () => JSON.parse(runInContext("JSON.stringify(task)", context) as string) as Task,
    closed: () => closed,
  };
}

describe("the client of docs/events.md", () => {
  it("has the Task as it is, whatever happens", () => {
    fc.assert(
      fc.property(
        arbitraryPlan.chain((plan) => fc.tuple(fc.constant(plan), arbitraryTaskProgress(plan))),
        ([plan, happenings]) => {
          const client = documentedClient();
          client.tell("snapshot", initialTask(plan));
          happenings.reduce((before, progress) => {
            const after = applyProgress(before, progress);
            const update = taskUpdate(before, after);
            if (update.type === "SNAPSHOT") client.tell("snapshot", after);
            if (update.type === "CHANGE") client.tell("change", update.change);
            expect(client.task()).to.deep.equal(after);
            return after;
          }, initialTask(plan));
          client.tell("end", { status: "Successful" });
          expect(client.closed()).to.equal(true);
        },
      ),
      { numRuns: 50 },
    );
  });
});
