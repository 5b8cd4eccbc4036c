import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect } from "chai";

const script = resolve(__dirname, "../../../config/temporal/setup-namespace.sh");

describe("config/temporal/setup-namespace.sh", () => {
  const folder = mkdtempSync(join(tmpdir(), "ums-namespace-"));
  after(() => rmSync(folder, { recursive: true, force: true }));

  /** Runs the script with a `temporal` that is this shell script; its pauses take no time. */
  function run(temporal: string) {
    writeFileSync(join(folder, "temporal"), `#!/bin/sh\n${temporal}\n`, { mode: 0o755 });
    writeFileSync(join(folder, "sleep"), "#!/bin/sh\n", { mode: 0o755 });
    const env = { PATH: `${folder}:/usr/bin:/bin`, TEMPORAL_ADDRESS: "temporal.example.com:7233" };
    const { status, stderr } = spawnSync("sh", [script], { encoding: "utf8", env });
    return { status, stderr };
  }

  it("gives up on a server that does not answer, and says why", () => {
    const { status, stderr } = run('echo "lookup temporal.example.com: timed out" >&2; exit 1');
    expect(status).to.equal(1);
    expect(stderr).to.equal(
      "Temporal at temporal.example.com:7233 does not answer `temporal operator cluster health`: lookup temporal.example.com: timed out\n",
    );
  });

  it("gives each question to the server a limit of time", () => {
    const { status } = run(
      'case "$*" in *"cluster health"*) case "$*" in *--command-timeout*) ;; *) exit 1 ;; esac ;; esac',
    );
    expect(status).to.equal(0);
  });
});
