import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

/** The folder of package.json. */
export const root = fileURLToPath(new URL("..", import.meta.url));

/** A failure that is told in its message alone. */
export class PreparationError extends Error {}

/** Runs a program to its end. Throws {@link PreparationError} with the end of what it said where it fails. */
export function run(what, program, args, { signal, env = process.env, shortened = endAndBeginning } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: root, env, signal, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += chunk));
    child.once("error", (error) => reject(new PreparationError(`${what}: ${error.message}`)));
    child.once("close", (code, killedBy) => {
      if (code === 0) resolve(output);
      else
        reject(
          new PreparationError(`${what} failed (${killedBy ?? `exit code ${code}`}):\n${shortened(output.trim())}`),
        );
    });
  });
}

/** Some programs tell what is wrong first, others last. */
function endAndBeginning(output) {
  const lines = output.split("\n");
  return lines.length > 40 ? [...lines.slice(0, 20), "…", ...lines.slice(-20)].join("\n") : output;
}

/** Runs `main` with a signal that SIGINT and SIGTERM abort; its result is the exit code. */
export async function runScript(main) {
  const controller = new AbortController();
  const stop = (name) => controller.abort(new PreparationError(`stopped by ${name}`));
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(name, stop);
  const release = () => {
    for (const name of ["SIGINT", "SIGTERM", "SIGHUP"]) process.off(name, stop);
  };
  try {
    process.exitCode = await main(controller.signal, release);
  } catch (error) {
    const told = error instanceof PreparationError || error.name === "StartupError" || controller.signal.aborted;
    console.error(told ? error.message : error);
    process.exitCode = 1;
  }
}
