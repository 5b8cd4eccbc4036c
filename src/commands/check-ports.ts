import { createServer } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { StartupError } from "../startup-error";

/** An address that the service is about to listen on, and the variable that decides its port. */
export interface WantedPort {
  readonly host: string;
  readonly port: number;
  readonly variable: string;
}

/**
 * Throws one {@link StartupError} for all ports that cannot be listened on. `giveUpAfterMilliseconds` is for processes
 * of a killed predecessor, which end by themselves a moment later.
 */
export async function checkPorts(wanted: readonly WantedPort[], giveUpAfterMilliseconds = 0): Promise<void> {
  const deadline = Date.now() + giveUpAfterMilliseconds;
  const problems: string[] = [];
  for (const { host, port, variable } of wanted) {
    let code = await listenError(host, port);
    while (code === "EADDRINUSE" && Date.now() < deadline) {
      await pause(100);
      code = await listenError(host, port);
    }
    if (code !== undefined) problems.push(portProblem(code, { host, port, variable }));
  }
  if (problems.length > 0) throw new StartupError(problems.join(" "));
}

function portProblem(code: string, { host, port, variable }: WantedPort): string {
  if (code === "EADDRINUSE") return `Port ${port} is in use: stop what listens there or set ${variable}.`;
  if (code === "EACCES") return `Port ${port} needs more rights than this user has: set ${variable} to one above 1023.`;
  return `Cannot listen on ${host}:${port} (${code}): correct the address or set ${variable}.`;
}

function listenError(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}
