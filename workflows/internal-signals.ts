import { log, setDefaultSignalHandler } from "@temporalio/workflow";

/**
 * Receives the Signals that Workflows and the API send to a Workflow. The SDK has no handlers of these names, so the Temporal
 * Web UI, which asks it, offers none of them to operators. To be made after the handlers that are offered: it takes all other
 * Signals. One that comes before its handler is set waits for it.
 */
export class InternalSignals {
  private readonly handlers = new Map<string, (payload: unknown) => void>();
  private early: { readonly name: string; readonly payload: unknown }[] = [];
  private isComplete = false;

  constructor() {
    setDefaultSignalHandler((name, payload) => this.receive(name, payload));
  }

  /** Sets the handler of a Signal, which must not throw. */
  on({ name }: { readonly name: string }, handler: (payload: unknown) => void): void {
    this.handlers.set(name, handler);
    const early = this.early.filter((signal) => signal.name === name);
    this.early = this.early.filter((signal) => signal.name !== name);
    for (const { payload } of early) handler(payload);
  }

  /** All handlers are set: drops what has none. */
  dropOthers(): void {
    this.isComplete = true;
    for (const { name } of this.early.splice(0)) drop(name);
  }

  private receive(name: string, payload: unknown): void {
    const handler = this.handlers.get(name);
    if (handler) handler(payload);
    else if (this.isComplete) drop(name);
    else this.early.push({ name, payload });
  }
}

function drop(signal: string): void {
  log.warn("An unknown Signal was dropped", { signal });
}
