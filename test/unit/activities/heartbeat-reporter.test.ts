import { Context } from "@temporalio/activity";
import type { Logger } from "@temporalio/common";
import { MockActivityEnvironment } from "@temporalio/testing";
import { expect } from "chai";
import { reportHeartbeats } from "../../../activities/heartbeat-reporter";
import type { RemediationProgress } from "../../../src/domain/task/host-remediation";
import { sampleProgress } from "../../support/sample-progress";

/** What is logged of these changes, one every second, and how many of them were heartbeat. */
async function told(...changes: readonly Partial<RemediationProgress>[]) {
  let seconds = 0;
  const lines: { doing: unknown; remoteTask: unknown }[] = [];
  const ignore = () => undefined;
  const logger: Logger = {
    log: ignore,
    trace: ignore,
    debug: ignore,
    info: (_message, fields) => lines.push({ doing: fields?.["doing"], remoteTask: fields?.["remoteTask"] }),
    warn: ignore,
    error: ignore,
  };
  const environment = new MockActivityEnvironment({}, { logger });
  let beats = 0;
  environment.on("heartbeat", () => beats++);
  await environment.run(() => {
    const beat = reportHeartbeats(Context.current(), { host: "esx-01" }, () => seconds * 1_000);
    for (const change of changes) {
      beat(sampleProgress(change));
      seconds += 1;
    }
    return Promise.resolve();
  });
  return { lines, beats };
}

describe("reportHeartbeats", () => {
  it("leaves a percentage to the next steady heartbeat", async () => {
    const { lines, beats } = await told(
      ...Array.from({ length: 30 }, (_, percent) => ({ activity: "Copying.", percent })),
    );
    expect(beats).to.equal(1);
    expect(lines).to.have.lengthOf(1);
  });

  it("heartbeats other words at once, and logs them every ten seconds", async () => {
    const { lines, beats } = await told(...Array.from({ length: 30 }, (_, i) => ({ activity: `Host ${i} restarts.` })));
    expect(lines.map(({ doing }) => doing)).to.deep.equal([0, 10, 20].map((i) => `Host ${i} restarts.`));
    expect(beats).to.equal(30);
  });

  it("logs words that stay the same once", async () => {
    const { lines } = await told(...Array.from({ length: 30 }, () => ({ activity: "Waiting for the host." })));
    expect(lines.map(({ doing }) => doing)).to.deep.equal(["Waiting for the host."]);
  });

  it("heartbeats at once what the next run has to know, whatever is said", async () => {
    const { beats } = await told(
      {},
      { requestedAt: "2026-11-23T08:00:00.000Z" },
      { requestedAt: "2026-11-23T08:00:00.000Z", remoteTask: "task-7" },
      { requestedAt: "2026-11-23T08:00:00.000Z", remoteTask: "task-7" },
      { failures: [1] },
    );
    expect(beats).to.equal(4);
  });

  it("heartbeats an intent first, not that the host is looked at before", async () => {
    const looking = { phases: "k", activity: "Comparing the host with the target image." };
    expect((await told(looking, looking)).beats).to.equal(0);
    expect((await told(looking, { ...looking, activity: "Waiting for the host." })).beats).to.equal(1);
    expect((await told(looking, { ...looking, requestedAt: "2026-11-23T08:00:00.000Z" })).beats).to.equal(1);
    expect((await told({ ...looking, requestedAt: "2026-11-23T08:00:00.000Z" })).beats).to.equal(1);
    expect((await told({ ...looking, failures: [1] })).beats).to.equal(1);
  });

  it("tells the component manager's task as soon as there is one, and another one again", async () => {
    const { lines } = await told({}, { remoteTask: "task-7" }, { remoteTask: "task-7" }, { remoteTask: "task-8" });
    expect(lines).to.deep.equal(
      [undefined, "task-7", "task-8"].map((remoteTask) => ({ doing: "Starting.", remoteTask })),
    );
  });
});
