import { createSocket, type RemoteInfo, type Socket } from "node:dgram";
import { once } from "node:events";

/** A DNS that knows no name: it says so at once, or says nothing at all, as on a site without a way out. */
export class NameServer {
  silent = false;
  /** How many questions it left without an answer. */
  unanswered = 0;

  private constructor(private readonly socket: Socket) {
    socket.on("message", (question, from) => this.answer(question, from));
  }

  static async listen(address: string): Promise<NameServer> {
    const socket = createSocket("udp4");
    socket.bind(53, address);
    await once(socket, "listening");
    return new NameServer(socket);
  }

  close(): void {
    this.socket.close();
  }

  private answer(question: Buffer, { address, port }: RemoteInfo): void {
    if (this.silent) {
      this.unanswered++;
      return;
    }
    const answer = Buffer.from(question);
    // A response, recursion available, no such name (RFC 1035, 4.1.1); no records but the question.
    answer.writeUInt16BE(0x8183, 2);
    answer.fill(0, 6, 12);
    this.socket.send(answer.subarray(0, endOfQuestion(question)), port, address);
  }
}

/** Past the name, its type and its class. */
function endOfQuestion(message: Buffer): number {
  let at = 12;
  while (message[at]) at += (message[at] ?? 0) + 1;
  return at + 5;
}
