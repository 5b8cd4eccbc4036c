import { DriverError } from "../drivers/driver-error";
import { GiveUpError } from "../retry-policy";
import type { MgmtStepContext } from "./mgmt-step";

/**
 * Reads of a management server that is expected to go away and come back. While it restarts it answers with anything:
 * nothing, 503, 404 of services that are not there yet, 401 of a login that cannot be checked yet.
 */
export class Absence {
  readonly #context: MgmtStepContext;
  #since: number | undefined;

  constructor(context: MgmtStepContext) {
    this.#context = context;
  }

  /** What is read; undefined while the server is away. Throws the last error where it is away for too long. */
  async read<A>(read: () => Promise<A>): Promise<A | undefined> {
    const { progress, limits, input, retryPolicy } = this.#context;
    const asked = retryPolicy.clock.now();
    try {
      const answer = await retryPolicy.once(read);
      this.#since = undefined;
      return answer;
    } catch (error) {
      if (!(error instanceof DriverError)) throw error;
      this.#since ??= asked;
      if (retryPolicy.clock.now() - this.#since >= limits.mgmtAbsence) throw new GiveUpError(error, limits.mgmtAbsence);
      progress.note(`Waiting for ${input.server.name} to come back: ${error.message}`);
      return undefined;
    }
  }
}
