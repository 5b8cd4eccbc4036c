import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

/** What Schemathesis tests with, in the order in which it does. */
export const phases = ["examples", "coverage", "fuzzing", "stateful"] as const;
export type Phase = (typeof phases)[number];

/** What becomes of one phase. */
interface PhaseRun {
  /** What is printed where something is found; the empty text where nothing is. */
  readonly findings: string;
  /** How many requests were made up and judged. */
  readonly cases: number;
}

/** The part of a report (`--report json`) that is looked at. */
interface Report {
  readonly test_cases: { readonly generated: number };
}

interface SchemathesisOptions {
  readonly url: string;
  readonly token: string;
  readonly phase: Phase;
  /** The phase ends after so many seconds: a bound, which slow machines reach earlier. */
  readonly seconds: number;
  /** Where it may write. */
  readonly folder: string;
}

const run = promisify(execFile);
const own = join(__dirname, "schemathesis");
/** One, so that a run that fails can be had again. */
const seed = 20261;
/**
 * The only DELETE of a resource by its id cancels a task; it stays readable, and says so. The settings of an operation would
 * be the place for this, but what the command line says of checks counts more in the phase stateful.
 */
const stillThere = "use_after_free";
/** How long Schemathesis may take to start and to report, in milliseconds. */
const aroundMilliseconds = 120_000;

/** Runs one phase of Schemathesis, with all checks, against a service that describes itself at /openapi.json. */
export async function runSchemathesis({ url, token, phase, seconds, folder }: SchemathesisOptions): Promise<PhaseRun> {
  const packages = process.env["SCHEMATHESIS"];
  if (!packages)
    throw new Error("SCHEMATHESIS is not set: run `npm test -- interop/third-party`, which installs it and sets that.");
  const report = join(folder, `${phase}.json`);
  const bounds = ["--seed", String(seed), "--max-time", String(seconds), "--request-timeout", "20"];
  const args = [
    ...["-m", "schemathesis.cli", "--config-file", join(own, "schemathesis.toml"), "run", `${url}/openapi.json`],
    ...["--checks", "all", "--exclude-checks", stillThere],
    ...["--phases", phase, "--report", "json", "--report-json-path", report, ...bounds],
    ...["-H", `Authorization: Bearer ${token}`],
  ];
  const env = {
    ...process.env,
    PYTHONPATH: packages,
    PYTHONDONTWRITEBYTECODE: "1",
    SCHEMATHESIS_HOOKS: join(own, "hooks.py"),
    NO_COLOR: "1",
  };
  let findings = "";
  try {
    await run("python3", args, { cwd: folder, env, timeout: seconds * 1000 + aroundMilliseconds, maxBuffer: 2 ** 26 });
  } catch (error) {
    const { stdout = "", stderr = String(error) } = error as { readonly stdout?: string; readonly stderr?: string };
    findings = stdout + stderr;
  }
  if (!existsSync(report)) return { findings: findings || "No report was written", cases: 0 };
  return { findings, cases: (JSON.parse(readFileSync(report, "utf8")) as Report).test_cases.generated };
}
