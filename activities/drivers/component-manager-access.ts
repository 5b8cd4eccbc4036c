import { intervalAfter } from "../../src/domain/retry-intervals";

/** How a component manager is reached. Never logged and never part of an error: it holds a password. */
export interface ComponentManagerAccess {
  /** Its id in the inventory. */
  readonly id: string;
  /** Root of its HTTP interface, such as `https://vc-01.example.com`. */
  readonly url: string;
  readonly username: string;
  readonly password: string;
}

/** The value of an `authorization` header. */
export function basicCredentials({ username, password }: ComponentManagerAccess): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
}

/** Milliseconds between two tries, at most. */
export const slowestTry = 10 * 60_000;

/**
 * When credentials that were refused may be tried again, shared by all who use one account: managers lock it after a few
 * refusals, however many callers they come from. Kept in the process, and only for the pace.
 */
export class CredentialTries {
  #next: number | undefined;
  #refusals = 0;

  /** The manager takes the credentials. */
  accepted(): void {
    this.#next = undefined;
    this.#refusals = 0;
  }

  /** They were refused: the next try comes after `shortest` milliseconds, those after it later. */
  refused(now: number, shortest: number): void {
    if (this.isPausedAt(now)) return;
    const intervals = { initialInterval: shortest, backoffCoefficient: 3, maximumInterval: slowestTry };
    this.#next = now + intervalAfter(++this.#refusals, intervals);
  }

  /** Whether they were refused so lately that nobody is to try now. */
  isPausedAt(now: number): boolean {
    return this.#next !== undefined && now < this.#next;
  }

  /** Whether the caller is to try now: as the only one whose turn it is, or because they are taken again. */
  take(now: number, shortest: number): boolean {
    if (this.#next === undefined) return true;
    if (this.isPausedAt(now)) return false;
    this.refused(now, shortest);
    return true;
  }
}

/** By account and password. Kept as long as the process runs: accounts are few. */
const ofAccounts = new Map<string, CredentialTries>();

/** The tries of an account, shared by the drivers of all interfaces that it is used with. */
export function triesOf({ url, username, password }: ComponentManagerAccess): CredentialTries {
  const account = JSON.stringify([url, username, password]);
  const tries = ofAccounts.get(account) ?? new CredentialTries();
  ofAccounts.set(account, tries);
  return tries;
}
