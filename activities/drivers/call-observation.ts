/** One exchange with a component manager, as whoever watches the drivers sees it. */
export interface ManagerCall {
  /** Which of the products' interfaces is spoken. */
  readonly product: "vlcm" | "vcsa" | "nsx" | "vim25";
  readonly operation: CallOperation;
  /** Id of the component manager in the inventory. */
  readonly managerId: string;
  /** Completes the sentence "could not …"; may name clusters and hosts, never a secret. */
  readonly what: string;
}

/** `session`: logging in and out. `read`: changes nothing. `change`: everything else, checks and scans among it. */
export type CallOperation = "session" | "read" | "change";

/**
 * `ok`; `refused`: the manager understood and said no, which is often an answer like any other (nothing there yet,
 * done already); `failed`: it could not; `no_answer`: there was no whole answer in time.
 */
export type CallOutcome = "ok" | "refused" | "failed" | "no_answer";

/**
 * Makes a call and watches it: gives or throws what `send` does. `outcomeOf` judges what was answered; what is thrown
 * means that there was no answer.
 */
export type ObserveCall = <A>(
  call: ManagerCall,
  send: () => Promise<A>,
  outcomeOf: (answer: A) => CallOutcome,
) => Promise<A>;

/** Watches nothing. */
export const unobserved: ObserveCall = (_call, send) => send();

/** The outcome that an HTTP status stands for. */
export function outcomeOfStatus(status: number): CallOutcome {
  if (status < 400) return "ok";
  return status < 500 ? "refused" : "failed";
}
