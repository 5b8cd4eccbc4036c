import { randomBytes } from "node:crypto";

/** One login. Times are epoch milliseconds. */
export interface Session {
  readonly user: string;
  readonly createdAt: number;
  lastAccessedAt: number;
}

/** The sessions of the API; they live in memory only, so that a restart ends them as the product's does. */
export class Sessions {
  private readonly byToken = new Map<string, Session>();
  private readonly idle: number;
  private readonly absolute: number;

  /** `idleSeconds` without a call (300), or `absoluteSeconds` after the login (48 h), a session is over. */
  constructor({ idleSeconds = 300, absoluteSeconds = 172_800 }: { idleSeconds?: number; absoluteSeconds?: number }) {
    this.idle = idleSeconds * 1000;
    this.absolute = absoluteSeconds * 1000;
  }

  get size(): number {
    return this.byToken.size;
  }

  /** A new session's token. */
  login(user: string, now: number): string {
    const token = randomBytes(16).toString("hex");
    this.byToken.set(token, { user, createdAt: now, lastAccessedAt: now });
    return token;
  }

  /** The session of a token, which counts as used by this; undefined where there is none or it has expired. */
  use(token: string, now: number): Session | undefined {
    const session = this.byToken.get(token);
    if (!session) return undefined;
    if (now - session.lastAccessedAt >= this.idle || now - session.createdAt >= this.absolute) {
      this.byToken.delete(token);
      return undefined;
    }
    session.lastAccessedAt = now;
    return session;
  }

  logout(token: string): void {
    this.byToken.delete(token);
  }

  expireAll(): void {
    this.byToken.clear();
  }
}
