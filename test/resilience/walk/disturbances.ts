import { answerOf, nameOf, problemsOf, type Answered } from "./answered";

/** What is disturbed at a time; each excuses other answers. */
export type Disturbed = "api" | "worker" | "temporal" | "componentManager" | "freeze";

/** Milliseconds for which a disturbance excuses answers after its end: calls that began in it have to end first. */
const grace: Readonly<Record<Disturbed, number>> = {
  api: 3_000,
  worker: 30_000,
  temporal: 30_000,
  componentManager: 15_000,
  freeze: 3_000,
};

/** Answers that are given for want of something, and of what. */
const wanting: Readonly<Record<string, readonly Disturbed[]>> = {
  none: ["api"],
  "424 TEMPORAL_UNREACHABLE": ["temporal"],
  "500 TEMPORAL_UNREACHABLE": ["temporal"],
  "424 REQUEST_NOT_YET_APPLIED": ["temporal", "worker"],
  "424 COMPONENT_MANAGER_UNREACHABLE": ["componentManager"],
  "403 FROZEN": ["freeze"],
};

/** The faults of a walk as far as they excuse answers. */
export class Disturbances {
  private readonly known: { readonly what: Disturbed; readonly from: number; until: number }[] = [];

  /** Notes that something is disturbed while `work` lasts. */
  async during<A>(what: Disturbed, work: () => Promise<A>): Promise<A> {
    const disturbance = { what, from: Date.now(), until: Infinity };
    this.known.push(disturbance);
    try {
      return await work();
    } finally {
      disturbance.until = Date.now();
    }
  }

  /** Notes that something is disturbed from now on for so many milliseconds. */
  lasting(what: Disturbed, milliseconds: number): void {
    this.known.push({ what, from: Date.now(), until: Date.now() + milliseconds });
  }

  /**
   * What an answer says of the upgrade, with the problems left out of it that only say that something was away;
   * undefined where nothing is left. Throws where nothing was away.
   */
  besides(answer: Answered | undefined, since: number): Answered | undefined {
    if (!answer) return this.excuses(answer, since) ? undefined : answer;
    return answerOf(problemsOf(answer).filter((one) => !this.excuses(one, since)));
  }

  private excuses(answer: Answered | undefined, since: number): boolean {
    const name = nameOf(answer);
    const wanted = wanting[name];
    if (!wanted) return false;
    if (!wanted.some((what) => this.was(what, since)))
      throw new Error(`The answer ${name} although there was no disturbance of ${wanted.join(" or ")}`);
    return true;
  }

  private was(wanted: Disturbed, since: number): boolean {
    return this.known.some(({ what, until }) => what === wanted && until + grace[what] >= since);
  }
}
