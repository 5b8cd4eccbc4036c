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
