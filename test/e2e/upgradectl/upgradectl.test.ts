import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect } from "chai";
import { cluster } from "../../support/service/servers-under-test";
import { ServiceUnderTest, until } from "../../support/service/service-under-test";

const root = resolve(__dirname, "../../..");

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

describe("upgradectl against the service", function () {
  this.timeout(120_000);
  const folder = mkdtempSync(join(tmpdir(), "upgradectl-system-"));
  let service: ServiceUnderTest;
  before(async () => {
    service = await ServiceUnderTest.start({ SIMULATOR_HOST_SECONDS: "2" });
    expect((await upgradectl(["login", "-u", "alice", "--password-stdin"], "any password").ended).code).to.equal(0);
  });
  after(async () => {
    await service.discard();
    rmSync(folder, { recursive: true });
  });
  beforeEach(() => service.resetSimulator());

  /** The built program, as a process of its own. */
  function upgradectl(args: readonly string[], input = "") {
    const { PATH, HOME } = process.env;
    const child = spawn(process.execPath, ["dist/src/cli/upgradectl.js", ...args], {
      cwd: root,
      // A login is for one address.
      env: { PATH, HOME, UPGRADECTL_SERVER: service.apiUrls[0], UPGRADECTL_CONFIG: join(folder, "config.json") },
    });
    const output = { stdout: "", stderr: "" };
    child.stdout.on("data", (chunk: Buffer) => (output.stdout += chunk.toString()));
    child.stderr.on("data", (chunk: Buffer) => (output.stderr += chunk.toString()));
    child.stdin.on("error", () => undefined).end(input);
    const ended = new Promise<Ended>((done) => child.once("close", (code) => done({ code, ...output })));
    return { output, ended };
  }

  const run = (...args: string[]) => upgradectl(args).ended;

  const draft = "examples/cluster-draft.json";

  it("walks from the plan over a draft to the end, through a killed API", async () => {
    const plan = await run("plan", "-f", draft);
    expect(plan.stdout, plan.stderr).to.contain("Expected waves").and.to.contain("HOSTOS 1");
    expect((await run("list", "-o", "json")).stdout).to.contain('"elements": []');

    const started = await run("start", "-f", draft);
    expect(started.code, started.stderr).to.equal(0);
    const id = started.stdout.trim();
    await service.taskWhen(id, "waits for its commit", ({ subTasks }) => subTasks?.[0]?.status === "SUCCESSFUL");
    const committed = upgradectl(["commit", id, "--yes", "--watch"]);
    await until("a host is in work", () => committed.output.stdout.includes("HOSTOS > "));
    await service.killAndAwaitSuccessor("api");
    const { code, stdout, stderr } = await committed.ended;
    expect(code, stdout + stderr).to.equal(0);
    expect(stdout).to.contain("Following again.").and.to.contain("Successful");
    expect((await run("get", id)).stdout).to.contain("COMPLETED_WITH_SUCCESS");
  });

  it("fails with 1 and the next step, is refused with 4, retries to 0", async () => {
    await service.fault({ kind: "REMEDIATION_FAILS", times: 1, message: "bootbank is too small" });
    const file = join(folder, "request.json");
    const spec = { resourceId: cluster("34"), upgradeNow: true };
    const bundleId = "7d1c1f6e-3a52-4f0e-9c11-5c0a90020002";
    const options = { hostosUpgradeFailureAction: { action: "FAIL" } };
    const specs = [{ ...spec, hostosUpgradeOptionsSpec: options }];
    writeFileSync(file, JSON.stringify({ bundleId, resourceType: "CLUSTER", resourceUpgradeSpecs: specs }));
    const failed = await run("start", "-f", file, "--yes", "--watch", "-o", "json");
    expect(failed.code, failed.stderr).to.equal(1);
    expect(failed.stderr).to.contain("bootbank is too small").and.to.contain("Next: ");
    const last = failed.stdout.trimEnd().split("\n").at(-1) ?? "";
    const { id } = (JSON.parse(last) as { task: { id: string } }).task;

    const refused = await run("pause", id);
    expect(refused.code, refused.stderr).to.equal(4);
    expect(refused.stderr).to.contain("Next: ");

    const retried = await run("retry", id, "--watch");
    expect(retried.code, retried.stdout + retried.stderr).to.equal(0);
  });

  it("completes commands, options and values as the shells' scripts ask for them", async () => {
    for (const shell of ["bash", "zsh", "fish"]) {
      const { code, stdout } = await run("completion", shell);
      expect(code).to.equal(0);
      expect(stdout).to.contain("upgradectl complete --");
    }
    const words = async (...args: string[]) => (await run("complete", "--", ...args)).stdout;
    expect(await words("re"))
      .to.contain("reschedule\t")
      .and.to.contain("retry\t")
      .and.not.to.contain("commit");
    expect(await words("start", "--dr")).to.contain("--draft");
    expect(await words("list", "--status", "IN")).to.contain("INPROGRESS");
    expect(await words("start", "--file", "examples/cluster-d")).to.contain("examples/cluster-draft.json");
  });
});
