import { expect } from "chai";
import fc from "fast-check";
import { EventQueue } from "../../../src/simulator/state/context";
import type { ClusterState, TaskState } from "../../../src/simulator/state/simulator-state";

/** A cluster of which nothing matters here but what its tasks have before them. */
function cluster(name: string): ClusterState {
  return {
    ...{ id: name, name, management: "IMAGE", haEnabled: false, drsEnabled: false, admissionControl: false },
    ...{ dpm: false, policy: {}, commits: [], drafts: [], hosts: [], tasks: [] },
  };
}

function task(status: TaskState["status"], times: readonly number[]): TaskState {
  const events = times.map((at) => ({ at, kind: "TASK_ENDED" as const }));
  return { id: "t", kind: "scan", status, user: "u", createdAt: 0, startsAt: 0, forgotten: false, events };
}

/** What a look at every task of every cluster finds. */
function found(clusters: readonly ClusterState[]) {
  const all = clusters.flatMap((c) =>
    c.tasks.flatMap(({ status, events }) => {
      const at = events[0]?.at;
      return status === "OPEN" && at !== undefined ? [{ at, name: c.name }] : [];
    }),
  );
  return all.reduce<(typeof all)[number] | undefined>(
    (first, other) => (first && first.at <= other.at ? first : other),
    undefined,
  );
}

const times = fc.array(fc.integer({ min: 0, max: 5 }), { maxLength: 3 }).map((list) => list.sort((a, b) => a - b));
const tasks = fc.array(
  fc
    .record({ status: fc.constantFrom("OPEN" as const, "SUCCEEDED" as const), times })
    .map((t) => task(t.status, t.times)),
  { maxLength: 4 },
);

describe("Agenda", () => {
  it("tells what a look at every task would find, whatever changes", () => {
    const changes = fc.array(fc.record({ place: fc.integer({ min: 0, max: 5 }), tasks }), { maxLength: 40 });
    fc.assert(
      fc.property(changes, (list) => {
        const clusters = ["a", "b", "c", "d", "e", "f"].map(cluster);
        const eventQueue = new EventQueue(clusters);
        expect(eventQueue.next()).to.equal(undefined);
        for (const change of list) {
          const changed = clusters[change.place];
          if (!changed) continue;
          changed.tasks = change.tasks;
          eventQueue.changed(changed);
          const next = eventQueue.next();
          expect(next && { at: next.at, name: next.cluster.name }).to.deep.equal(found(clusters));
        }
      }),
    );
  });
});
