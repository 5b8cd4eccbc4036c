import type { AddressInfo } from "node:net";
import PostalMime, { type Email } from "postal-mime";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";
import { type TestAuthority, testAuthority } from "./certificates";

export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  /** As it came. */
  readonly raw: string;
  readonly email: Email;
  /** Whether the connection was encrypted. */
  readonly secure: boolean;
  /** Who had signed in. */
  readonly user: string | undefined;
}

/** What is refused, by the SMTP reply with which. */
export interface MailRefusals {
  sender?: number;
  recipients?: Readonly<Record<string, number>>;
  message?: number;
}

/** A mail server of others (smtp-server), with TLS by a certificate of its own authority, which keeps what it takes. */
export class MailServer {
  readonly received: ReceivedMail[] = [];
  refusals: MailRefusals = {};
  /** Takes messages, and never says so. */
  mute = false;
  /** How often somebody has signed in with a wrong password. */
  wrongPasswords = 0;
  private server: SMTPServer | undefined;
  private authority: TestAuthority | undefined;
  port = 0;

  constructor(
    readonly tls: "IMPLICIT" | "STARTTLS" | "NONE",
    private readonly account?: { readonly username: string; readonly password: string },
  ) {}

  /** Its authority as PEM. */
  get certificate(): string {
    return this.authority?.cert ?? "";
  }

  async start(): Promise<void> {
    this.authority = await testAuthority("mail test");
    const { cert, key } = await this.authority.issue("localhost");
    const { account } = this;
    const server = new SMTPServer({
      secure: this.tls === "IMPLICIT",
      cert,
      key,
      disabledCommands: [...(this.tls === "NONE" ? ["STARTTLS"] : []), ...(account ? [] : ["AUTH"])],
      authOptional: account === undefined,
      disableReverseLookup: true,
      closeTimeout: 100,
      ...this.handlers(),
    });
    server.on("error", () => undefined);
    await new Promise<void>((listening) => server.listen(this.port, "127.0.0.1", () => listening()));
    this.port = (server.server.address() as AddressInfo).port;
    this.server = server;
  }

  async stop(): Promise<void> {
    const { server } = this;
    this.server = undefined;
    if (server) await new Promise<void>((closed) => server.close(() => closed()));
  }

  private handlers(): SMTPServerOptions {
    return {
      onAuth: ({ username, password }, _session, done) => {
        if (username === this.account?.username && password === this.account?.password)
          return done(null, { user: username });
        this.wrongPasswords += 1;
        return done(refusal(535));
      },
      onMailFrom: (_address, _session, done) => done(this.refusals.sender ? refusal(this.refusals.sender) : null),
      onRcptTo: ({ address }, _session, done) => {
        const code = this.refusals.recipients?.[address];
        done(code ? refusal(code) : null);
      },
      onData: (stream, session, done) => {
        const parts: Buffer[] = [];
        stream.on("data", (part: Buffer) => parts.push(part));
        stream.on("end", () => {
          if (this.mute) return;
          if (this.refusals.message) return done(refusal(this.refusals.message));
          const raw = Buffer.concat(parts);
          const { mailFrom, rcptTo } = session.envelope;
          void PostalMime.parse(raw).then((email) => {
            this.received.push({
              from: mailFrom ? mailFrom.address : "",
              to: rcptTo.map(({ address }) => address),
              raw: raw.toString("utf8"),
              email,
              secure: session.secure,
              user: session.user === undefined ? undefined : String(session.user),
            });
            done(null);
          });
        });
      },
    };
  }
}

/** What a server says of it must reach nobody. */
function refusal(responseCode: number): Error {
  return Object.assign(new Error("secret words of 10.1.2.3"), { responseCode });
}
