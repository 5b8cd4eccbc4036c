import { SpanKind, SpanStatusCode, type Tracer } from "@opentelemetry/api";
import type { Logger } from "pino";
import type { CallOutcome, ManagerCall, ObserveCall } from "../../activities/drivers/call-observation";
import { DriverError } from "../../activities/drivers/driver-error";
import { currentTask, taskAttributes } from "./context";

export interface ManagerCallObservers {
  readonly log: Logger;
  measure(call: ManagerCall, outcome: CallOutcome, seconds: number): void;
  /** Absent where nothing is traced. */
  readonly tracer?: Tracer | undefined;
}

/**
 * Measures and traces each call to a component manager, and logs those that fail within an Activity. Neither spans nor
 * lines hold a header, a query or a body, so no credentials.
 */
export function observeManagerCalls({ log, measure, tracer }: ManagerCallObservers): ObserveCall {
  const observed: ObserveCall = async (call, send, outcomeOf) => {
    const began = performance.now();
    const ended = (outcome: CallOutcome, error?: unknown) => {
      const seconds = (performance.now() - began) / 1000;
      measure(call, outcome, seconds);
      tell(log, call, outcome, seconds, error);
      return outcome;
    };
    try {
      const answer = await send();
      ended(outcomeOf(answer));
      return answer;
    } catch (error) {
      ended("no_answer", error);
      throw error;
    }
  };
  return tracer ? traced(tracer, observed) : observed;
}

function traced(tracer: Tracer, observe: ObserveCall): ObserveCall {
  return (call, send, outcomeOf) => {
    const attributes = {
      "ums.component_manager.id": call.managerId,
      "ums.component_manager.product": call.product,
      "ums.component_manager.call": call.what,
      ...taskAttributes(),
    };
    return tracer.startActiveSpan(
      `${call.product} ${call.operation}`,
      { kind: SpanKind.CLIENT, attributes },
      async (span) => {
        try {
          return await observe(call, send, (answer) => {
            const outcome = outcomeOf(answer);
            span.setAttribute("ums.component_manager.outcome", outcome);
            if (outcome === "failed") span.setStatus({ code: SpanStatusCode.ERROR });
            return outcome;
          });
        } catch (error) {
          span.setAttribute("ums.component_manager.outcome", "no_answer");
          span.setStatus({ code: SpanStatusCode.ERROR, message: codeOf(error) });
          throw error;
        } finally {
          span.end();
        }
      },
    );
  };
}

/** An outage is polled for an hour or more: it is told when it begins, when it changes, and when it is over. */
function tell(log: Logger, call: ManagerCall, outcome: CallOutcome, seconds: number, error: unknown): void {
  const task = currentTask();
  if (!task) return;
  const { product, operation, managerId, what } = call;
  const errorCode = error === undefined ? undefined : codeOf(error);
  const line = { taskId: task.taskId, componentManager: managerId, product, operation, what, outcome, errorCode };
  if (outcome === "ok") {
    if (task.lastTrouble !== undefined) log.info(line, "The component manager answers again");
    task.lastTrouble = undefined;
    return;
  }
  const trouble = `${managerId} ${outcome} ${errorCode ?? what}`;
  if (trouble === task.lastTrouble) return;
  // That something is not there yet, or done already, is an answer like any other.
  const level = outcome === "refused" ? "debug" : "info";
  log[level]({ ...line, milliseconds: Math.round(seconds * 1000) }, "Component manager does not answer as expected");
  if (outcome !== "refused") task.lastTrouble = trouble;
}

function codeOf(error: unknown): string {
  return error instanceof DriverError ? error.code : "UNEXPECTED";
}
