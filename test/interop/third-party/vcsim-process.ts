import { type ChildProcess, spawn } from "node:child_process";

/** A running vcsim. */
export interface Vcsim {
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * Starts vcsim with two clusters of two hosts, each cluster with two virtual machines. `port` 0 takes a free one;
 * `plain` false is HTTPS with a certificate that nobody has signed.
 */
export async function startVcsim({ port = 0, plain = true } = {}): Promise<Vcsim> {
  const program = process.env["VCSIM_PATH"];
  if (!program)
    throw new Error("VCSIM_PATH is not set: run `npm test -- interop/third-party`, which builds vcsim and sets it.");
  const args = ["-port", String(port), "-clusters", "2", "-hosts", "2", `-plain=${plain}`];
  const child: ChildProcess = spawn(program, args, { stdio: ["pipe", "pipe", "pipe"] });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const url = await new Promise<string>((resolve, reject) => {
    let said = "";
    child.stdout?.on("data", (chunk: Buffer) => {
      said += chunk.toString();
      const [, address] = /^(https?:\/\/\S+)\n/.exec(said) ?? [];
      if (address !== undefined) resolve(address);
    });
    child.stderr?.on("data", (chunk: Buffer) => (said += chunk.toString()));
    child.once("error", reject);
    child.once("close", (code) => reject(new Error(`vcsim ended with ${code}: ${said}`)));
  });
  return {
    url,
    stop: async () => {
      // It runs until its input ends.
      child.stdin?.end();
      await ended;
    },
  };
}
