import { expect } from "chai";
import type { Task } from "../../../src/domain/spec/task";
import { FollowedTask } from "../../support/followed-task";
import { example, exampleNow } from "../../support/service/examples";
import { hostsOf, ServiceUnderTest, until } from "../../support/service/service-under-test";

describe("GET /v1/tasks/{id}/events of the running service", function () {
  this.timeout(180_000);
  let service: ServiceUnderTest;
  const followed: FollowedTask[] = [];

  before(async () => {
    service = await ServiceUnderTest.start({ SIMULATOR_HOST_SECONDS: "1", EVENTS_POLL_MILLISECONDS: "200" });
  });
  after(() => service.discard());
  beforeEach(() => service.resetSimulator());
  afterEach(() => {
    for (const one of followed.splice(0)) one.close();
  });

  function follow(id: string, earlier?: FollowedTask, apiUrl = service.apiUrl): FollowedTask {
    const task = new FollowedTask(`${apiUrl}/v1/tasks/${id}/events`, earlier);
    followed.push(task);
    return task;
  }
  const runningHosts = (task: Task | undefined) =>
    task ? hostsOf(task).filter(({ status }) => status === "IN_PROGRESS") : [];

  it("tells an upgrade to its end, also across a kill -9 of the API", async () => {
    const { id } = await service.startUpgrade(exampleNow("cluster-draft"));
    const watcher = follow(id);
    await until("a host is told to run", () => runningHosts(watcher.task).length > 0);
    expect(watcher.events.filter((name) => name === "snapshot")).to.have.length(1);
    await service.killAndAwaitSuccessor("api");
    await until("the end is told", () => watcher.hasEnded);

    expect(watcher.resumedFrom, "it came back with the last id that it had").to.not.be.empty;
    expect(
      watcher.events.filter((name) => name === "snapshot"),
      "which a new process does not know",
    ).to.have.length(2);
    expect(watcher.events).to.include("change");
    expect(watcher.task).to.include({ status: "Successful" });
    expect(watcher.task).to.deep.equal(await service.task(id));
  });

  it("tells what was missed to a client that was away for a moment, and the end", async () => {
    const { id } = await service.startUpgrade(exampleNow("cluster-draft"));
    // What happened before is kept by the process that told it.
    const { apiUrl } = service;
    const first = follow(id, undefined, apiUrl);
    await until("a host is told to run", () => runningHosts(first.task).length > 0);
    first.close();
    const [running] = runningHosts(first.task);
    await service.taskWhen(id, "has gone on", (task) => runningHosts(task)[0]?.name !== running?.name);
    const second = follow(id, first, apiUrl);
    await until("the end is told", () => second.hasEnded);
    expect(second.events, "no snapshot was needed").not.to.include("snapshot");
    expect(second.task).to.deep.equal(await service.task(id));
  });

  it("says that Temporal is away, and goes on when it is back", async () => {
    const { id } = await service.startUpgrade(example("cluster-draft"));
    const watcher = follow(id);
    await until("the draft waits", () => watcher.task?.subTasks?.[0]?.status === "SUCCESSFUL");
    service.signal("temporalServer", "SIGSTOP");
    await until("it is told that the Task is unavailable", () => watcher.events.includes("unavailable"));
    service.signal("temporalServer", "SIGCONT");
    await until("it is told that the Task is there again", () => watcher.events.at(-1) === "available");
    await service.signalUpgrade(id, "commit");
    await until("the end is told", () => watcher.hasEnded);
    expect(watcher.task).to.deep.equal(await service.task(id));
  });

  it("lets the service stop in its time while streams are open", async () => {
    const { id } = await service.startUpgrade(example("cluster-draft"));
    const watchers = Array.from({ length: 5 }, () => follow(id));
    await until("all are told the Task", () => watchers.every(({ task }) => task !== undefined));
    const began = Date.now();
    expect(await service.stop()).to.equal(0);
    expect(Date.now() - began).to.be.lessThan(15_000);
    expect(service.log("api").filter(({ msg }) => msg === "stream ended"))
      .to.have.property("length")
      .at.least(5);
    expect(service.log("api").at(-1)).to.include({ msg: "stopped" });
  });
});
