import { expect } from "chai";
import { DriverError } from "../../../activities/drivers/driver-error";
import { batchTaskReads } from "../../../activities/drivers/vlcm/batched-calls";
import type { TaskInfo } from "../../../activities/drivers/vlcm/vlcm-models";

const info = (task: string): TaskInfo => ({ status: "RUNNING", operation: task, service: "s", cancelable: false });
const failure = (kind: "permanent" | "transient") =>
  new DriverError({ kind, code: "REFUSED", message: "no", remediation: "none" });

describe("gatheredTasks", () => {
  /** Calls as they were made; each is answered when the test says so. */
  function manager(unknown: readonly string[] = []) {
    const calls: { readonly tasks: readonly string[]; answer(error?: Error): void }[] = [];
    const asked = <A>(tasks: readonly string[], result: () => A) =>
      new Promise<A>((resolve, reject) => {
        calls.push({ tasks, answer: (error) => (error ? reject(error) : resolve(result())) });
      });
    const read = batchTaskReads({
      readOne: (task) => asked([task], () => info(task)),
      readMany: (tasks) =>
        asked(tasks, () =>
          Object.fromEntries(tasks.filter((t) => !unknown.includes(t)).map((task) => [task, info(task)])),
        ),
    });
    return { calls, read, made: (count: number) => until(() => calls.length >= count) };
  }
  async function until(condition: () => boolean): Promise<void> {
    while (!condition()) await new Promise(setImmediate);
  }

  it("reads a single task at once and by itself", async () => {
    const { calls, read, made } = manager();
    const reading = read("a");
    await made(1);
    calls[0]?.answer();
    expect(await reading).to.deep.equal(info("a"));
    expect(calls.map(({ tasks }) => tasks)).to.deep.equal([["a"]]);
  });

  it("reads together what is asked for while a call is under way, each task once", async () => {
    const { calls, read, made } = manager();
    const first = read("a");
    await made(1);
    const others = ["b", "c", "b"].map((task) => read(task));
    calls[0]?.answer();
    await first;
    await made(2);
    calls[1]?.answer();
    expect(await Promise.all(others)).to.deep.equal([info("b"), info("c"), info("b")]);
    expect(calls.map(({ tasks }) => tasks)).to.deep.equal([["a"], ["b", "c"]]);
  });

  it("lets the patient wait for each other, and nobody for them", async () => {
    const { calls, read, made } = manager();
    const patient = [read("a", true)];
    await new Promise(setImmediate);
    patient.push(read("b", true));
    const hasty = read("c");
    await made(1);
    calls[0]?.answer();
    expect(await hasty).to.deep.equal(info("c"));
    await made(2);
    calls[1]?.answer();
    expect(await Promise.all(patient)).to.deep.equal([info("a"), info("b")]);
    expect(calls.map(({ tasks }) => tasks)).to.deep.equal([["c"], ["a", "b"]]);
  });

  it("does not wait for long behind a call that hangs", async () => {
    const { calls, read, made } = manager();
    void read("a");
    await made(1);
    const second = read("b");
    await made(2);
    calls[1]?.answer();
    expect(await second).to.deep.equal(info("b"));
  });

  it("never asks for more tasks in one call than a URL may hold", async () => {
    const { calls, read, made } = manager();
    const reading = Promise.all(Array.from({ length: 120 }, (_, i) => read(`t${i}`)));
    await made(3);
    calls.forEach(({ answer }) => answer());
    expect(await reading).to.have.length(120);
    expect(calls.map(({ tasks }) => tasks.length)).to.deep.equal([50, 50, 20]);
  });

  it("asks by itself for a task that the list does not have, so that its own error is told to its reader alone", async () => {
    const { calls, read, made } = manager(["b"]);
    const reading = Promise.allSettled([read("a"), read("b")]);
    await made(1);
    calls[0]?.answer();
    await made(2);
    const gone = failure("permanent");
    calls[1]?.answer(gone);
    expect(await reading).to.deep.equal([
      { status: "fulfilled", value: info("a") },
      { status: "rejected", reason: gone },
    ]);
  });

  it("asks for each where the list is refused", async () => {
    const { calls, read, made } = manager();
    const reading = Promise.all([read("a"), read("b")]);
    await made(1);
    calls[0]?.answer(failure("permanent"));
    await made(3);
    calls.slice(1).forEach(({ answer }) => answer());
    expect(await reading).to.deep.equal([info("a"), info("b")]);
  });

  it("tells every reader that the manager is away, and asks again afterwards", async () => {
    const { calls, read, made } = manager();
    const away = failure("transient");
    const reading = Promise.allSettled([read("a"), read("b")]);
    await made(1);
    calls[0]?.answer(away);
    expect((await reading).map((end) => end.status === "rejected" && (end.reason as unknown))).to.deep.equal([
      away,
      away,
    ]);
    const again = read("a");
    await made(2);
    calls[1]?.answer();
    expect(await again).to.deep.equal(info("a"));
  });
});
