import { connect, type Socket } from "node:net";
import { connect as connectByTls } from "node:tls";

/** Where raw bytes go: a port of this machine, by TLS where there is an authority of its certificate. */
export interface Target {
  readonly port: number;
  readonly ca: string | undefined;
}

/** What came back on a connection, and how long it was open. */
export interface Received {
  readonly text: string;
  /** Until the first byte came, or the connection was closed without any. */
  readonly milliseconds: number;
  /** Whether the other side has closed it; else it was given up. */
  readonly isClosed: boolean;
}

/** A connection over which anything can be sent. */
export class RawConnection {
  /** What is written and read, by TLS where that is spoken. */
  readonly socket: Socket;
  private readonly plain: Socket;
  readonly received: Promise<Received>;
  /** Settles when something has come back. */
  readonly firstByte: Promise<unknown>;
  private readonly chunks: Buffer[] = [];

  /** Gives it up after so many milliseconds. */
  constructor({ port, ca }: Target, limit: number) {
    const host = "127.0.0.1";
    this.plain = connect(port, host);
    this.socket = ca === undefined ? this.plain : connectByTls({ socket: this.plain, host, ca });
    const began = performance.now();
    let first: number | undefined;
    this.socket.on("data", (data: Buffer) => {
      first ??= performance.now();
      this.chunks.push(data);
    });
    this.firstByte = new Promise((resolve) => this.socket.once("data", resolve));
    // A reset is a way to close a connection; who it was that closed it is told by the timer.
    for (const socket of [this.socket, this.plain]) socket.on("error", () => undefined);
    this.received = new Promise((resolve) => {
      let isClosed = true;
      const timer = setTimeout(() => {
        isClosed = false;
        this.socket.destroy();
      }, limit);
      this.socket.once("close", () => {
        clearTimeout(timer);
        const milliseconds = (first ?? performance.now()) - began;
        resolve({ text: Buffer.concat(this.chunks).toString("latin1"), milliseconds, isClosed });
      });
    });
  }

  /** Resolves when it is open, or could not be opened. */
  opened(): Promise<void> {
    return new Promise((resolve) => {
      for (const event of ["connect", "close"]) this.socket.once(event, () => resolve());
    });
  }

  /** Sends a part again and again, each when the one before has left, until the connection is closed. */
  sendForEver(part: string | Buffer): void {
    const more = () => {
      if (!this.socket.destroyed && this.socket.writable) this.socket.write(part, more);
    };
    more();
  }

  /** Sends a text byte by byte, one in each interval of so many milliseconds, again from its start at its end. */
  drip(text: string, interval: number): void {
    let sent = 0;
    const timer = setInterval(() => this.socket.write(text.charAt(sent++ % text.length)), interval);
    this.socket.once("close", () => clearInterval(timer));
  }

  /** Breaks it off as a process does that is killed. */
  reset(): void {
    this.plain.resetAndDestroy();
  }
}

/** Sends bytes in one piece and gives what comes back until the other side closes. */
export function sendRaw(
  target: Target,
  bytes: string | Buffer,
  { end = false, limit = 15_000 } = {},
): Promise<Received> {
  const connection = new RawConnection(target, limit);
  connection.socket.write(typeof bytes === "string" ? Buffer.from(bytes, "latin1") : bytes);
  if (end) connection.socket.end();
  return connection.received;
}
