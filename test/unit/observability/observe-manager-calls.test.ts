import { expect } from "chai";
import { type CallOutcome, type ManagerCall, outcomeOfStatus } from "../../../activities/drivers/call-observation";
import { DriverError } from "../../../activities/drivers/driver-error";
import { withTask } from "../../../src/observability/context";
import { observeManagerCalls } from "../../../src/observability/observe-manager-calls";
import { memoryLog } from "../api/api-under-test";

const call: ManagerCall = { product: "vlcm", operation: "read", managerId: "vc-01", what: "read task 7" };
const gone = new DriverError({
  kind: "transient",
  code: "COMPONENT_MANAGER_UNREACHABLE",
  message: "No.",
  remediation: "Wait.",
});

function observed() {
  const { log, lines } = memoryLog();
  const measured: CallOutcome[] = [];
  const observe = observeManagerCalls({ log, measure: (_call, outcome) => measured.push(outcome) });
  const answer = (status: number) => observe(call, () => Promise.resolve(status), outcomeOfStatus);
  const lose = () => observe(call, () => Promise.reject(gone), outcomeOfStatus).catch((error: unknown) => error);
  return { answer, lose, lines, measured };
}

describe("observeManagerCalls", () => {
  it("gives the answer, throws the error, and measures how each call ended", async () => {
    const { answer, lose, measured } = observed();
    expect([await answer(200), await answer(404), await answer(503), await lose()]).to.deep.equal([
      200,
      404,
      503,
      gone,
    ]);
    expect(measured).to.deep.equal(["ok", "refused", "failed", "no_answer"]);
  });

  it("tells an outage once when it begins, once when it changes, and once when it is over", async () => {
    const { answer, lose, lines } = observed();
    await withTask({ taskId: "t-1" }, async () => {
      for (const next of [lose, lose, lose, () => answer(503), () => answer(503), () => answer(200), () => answer(200)])
        await next();
    });
    expect(lines.map(({ outcome, msg, taskId }) => ({ outcome, msg, taskId }))).to.deep.equal([
      { outcome: "no_answer", msg: "Component manager does not answer as expected", taskId: "t-1" },
      { outcome: "failed", msg: "Component manager does not answer as expected", taskId: "t-1" },
      { outcome: "ok", msg: "The component manager answers again", taskId: "t-1" },
    ]);
    expect(lines[0]).to.include({ componentManager: "vc-01", errorCode: "COMPONENT_MANAGER_UNREACHABLE", level: 30 });
  });

  it("tells a refusal to those only who look closely, because it is often an answer like any other", async () => {
    const { answer, lines } = observed();
    await withTask({ taskId: "t-1" }, async () => {
      await answer(404);
      await answer(200);
    });
    expect(lines.map(({ level, outcome }) => ({ level, outcome }))).to.deep.equal([{ level: 20, outcome: "refused" }]);
  });

  it("tells nothing outside of Activities: whoever asks is answered with the error", async () => {
    const { lose, lines } = observed();
    await lose();
    expect(lines).to.deep.equal([]);
  });
});
