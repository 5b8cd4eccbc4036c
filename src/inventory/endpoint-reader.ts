import * as E from "fp-ts/Either";
import { isLoopback } from "../loopback";
import type { SecretReader } from "./read-secret";

/** Where something is that the service calls; its URL may be a secret. */
export interface EndpointEntry {
  readonly url?: string | undefined;
  readonly urlFile?: string | undefined;
  readonly urlVariable?: string | undefined;
  readonly allowHttp?: boolean | undefined;
}

/** Where the secrets are that calls are signed with. */
export interface SigningEntry {
  readonly secretFile?: string | undefined;
  readonly secretVariable?: string | undefined;
}

/** Reads how one endpoint of the inventory is reached. `who` names it in problems, which hold no secret and no URL. */
export class EndpointReader {
  constructor(
    protected readonly who: string,
    private readonly readSecret: SecretReader,
    private readonly problems: string[],
  ) {}

  wrong(problem: string): undefined {
    // One field may be of several formats.
    if (!this.problems.includes(problem)) this.problems.push(problem);
    return undefined;
  }

  /** The secret at a place; undefined where that is wrong. `fields` are where it may be. */
  secret(what: string, fields: string, place: Parameters<SecretReader>[1]): string | undefined {
    const read = this.readSecret(`${what} of ${this.who}`, place);
    if (E.isLeft(read)) return this.wrong(read.left);
    return read.right ?? this.wrong(`The ${this.who} has neither ${fields}.`);
  }

  url({ url: written, urlFile, urlVariable, allowHttp = false }: EndpointEntry): string | undefined {
    if (written !== undefined && (urlFile !== undefined || urlVariable !== undefined))
      return this.wrong(`The ${this.who} has its URL twice: remove url, or urlFile and urlVariable.`);
    const place = { file: urlFile, variable: urlVariable };
    const url = written ?? this.secret("url", "url, urlFile nor urlVariable", place);
    if (url === undefined) return undefined;
    const { protocol, username, password, hostname } = URL.canParse(url) ? new URL(url) : noUrl;
    if (!["http:", "https:"].includes(protocol) || username !== "" || password !== "")
      return this.wrong(`The url of ${this.who} must begin with https:// and contain neither user nor password.`);
    // What is told names clusters and hosts, and the URL often is what the receiver trusts.
    if (protocol === "http:" && !allowHttp && !isLoopback(hostname))
      return this.wrong(
        `The url of ${this.who} begins with http://, which others on the network can read: use https://, or set allowHttp.`,
      );
    return url;
  }

  /** Several secrets stand one per line. */
  secrets({ secretFile, secretVariable }: SigningEntry): readonly string[] {
    const place = { file: secretFile, variable: secretVariable };
    const read = this.secret("secret", "secretFile nor secretVariable", place);
    const secrets = read?.split(/\s+/).filter((secret) => secret !== "") ?? [];
    if (read !== undefined && (secrets.length === 0 || !secrets.every(isSecret)))
      this.wrong(`The secret of ${this.who} must be whsec_ and 24 to 64 bytes in base64; write several one per line.`);
    return secrets;
  }
}

const noUrl = { protocol: "", username: "", password: "", hostname: "" };

/** As Standard Webhooks has it. */
function isSecret(secret: string): boolean {
  const [, base64] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret) ?? [];
  if (base64 === undefined || base64.length % 4 !== 0) return false;
  const { length } = Buffer.from(base64, "base64");
  return length >= 24 && length <= 64;
}
