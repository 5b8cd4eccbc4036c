import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { eventually } from "../../support/eventually";
import { isAlive } from "../../support/service/service-under-test";
import { cachedCliPath, findTemporalCli, type TemporalCliSearch } from "../../../src/temporal/find-temporal-cli";

const workingCli = "#!/bin/sh\necho temporal version 1.5.1\n";
const failingDownload = 'console.error("no network"); process.exit(1);';

describe("finding the Temporal CLI", function () {
  this.timeout(20_000);
  let folder: string;
  let said: string[];

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "find-cli-"));
    said = [];
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  /** Writes a program below the test's folder. */
  function program(name: string, script: string): string {
    const file = join(folder, name);
    mkdirSync(join(file, ".."), { recursive: true });
    writeFileSync(file, script);
    chmodSync(file, 0o755);
    return file;
  }

  /** A search that sees nothing of this machine but the shell's own programs. */
  function search(overrides: Partial<TemporalCliSearch> = {}): TemporalCliSearch {
    return {
      cliPath: undefined,
      cacheDir: join(folder, "cache"),
      environment: { PATH: `${join(folder, "bin")}:/usr/bin:/bin`, HOME: folder },
      downloadScript: program("no-download.js", failingDownload),
      say: (line) => said.push(line),
      progressMilliseconds: 100,
      ...overrides,
    };
  }

  async function failure(search: TemporalCliSearch): Promise<string> {
    return findTemporalCli(search).then(
      (path) => `found ${path}`,
      (error: unknown) => (error as Error).message,
    );
  }

  it("takes TEMPORAL_CLI_PATH before all others", async () => {
    program("bin/temporal", workingCli);
    const cliPath = program("mine/temporal", workingCli);
    expect(await findTemporalCli(search({ cliPath }))).to.equal(cliPath);
  });

  it("says so where TEMPORAL_CLI_PATH is not a CLI that runs, and looks no further", async () => {
    program("bin/temporal", workingCli);
    for (const cliPath of [join(folder, "nothing"), folder, program("other", "#!/bin/sh\necho hello\n")])
      expect(await failure(search({ cliPath }))).to.contain(
        `TEMPORAL_CLI_PATH=${cliPath} is not a working Temporal CLI`,
      );
  });

  it("takes the one on PATH, passing over what is called so but is something else", async () => {
    program("bin/temporal", "#!/bin/sh\nexit 3\n");
    const good = program("more/temporal", workingCli);
    const environment = { PATH: `${join(folder, "bin")}:${join(folder, "more")}:/usr/bin:/bin` };
    expect(await findTemporalCli(search({ environment }))).to.equal(good);
  });

  it("then the cache, without asking the network", async () => {
    const cached = program("cache/temporal-cli-v1.5.1/temporal", workingCli);
    const downloadScript = program("download.js", "throw new Error('asked')");
    expect(await findTemporalCli(search({ downloadScript }))).to.equal(cached);
    expect(cachedCliPath(join(folder, "cache"))).to.equal(cached);
  });

  it("then the SDK's download, into the cache", async () => {
    const downloadScript = program(
      "download.js",
      `const [dir, version] = process.argv.slice(2);
       require("fs").writeFileSync(dir + "/temporal-cli-" + version, ${JSON.stringify(workingCli)});`,
    );
    const found = await findTemporalCli(search({ downloadScript }));
    expect(found).to.equal(cachedCliPath(join(folder, "cache")));
    expect(readFileSync(found, "utf8")).to.equal(workingCli);
    expect(readdirSync(join(folder, "cache"))).to.deep.equal(["temporal-cli-v1.5.1"]);
  });

  it("then go install, into the cache, telling that it goes on", async () => {
    program(
      "bin/go",
      `#!/bin/sh\nsleep 0.35\n[ "$1 $2" = "install github.com/temporalio/cli/cmd/temporal@v1.5.1" ] || exit 9\nprintf '%s' '${workingCli}' > "$GOBIN/temporal"\n`,
    );
    const found = await findTemporalCli(search());
    expect(readFileSync(found, "utf8")).to.equal(workingCli);
    expect(said[0]).to.match(/^Building the Temporal CLI v1\.5\.1 with Go.*six minutes/);
    expect(said.slice(1)).to.not.be.empty;
    expect(said[1]).to.match(/^Building the Temporal CLI: \d+ s so far$/);
  });

  it("leaves nothing half done of a build that fails, and names all five ways", async () => {
    program("bin/go", '#!/bin/sh\necho half > "$GOBIN/temporal"\necho no module >&2\nexit 1\n');
    const message = await failure(search());
    for (const way of [
      "TEMPORAL_CLI_PATH",
      "PATH",
      cachedCliPath(join(folder, "cache")),
      "download failed (no network)",
      "`go install` (no module)",
    ])
      expect(message).to.contain(way);
    expect(message.split("\n")).to.have.length(1);
    expect(readdirSync(join(folder, "cache"))).to.deep.equal(["temporal-cli-v1.5.1"]);
    expect(existsSync(cachedCliPath(join(folder, "cache")))).to.equal(false);
  });

  it("gives up a download that stands still", async () => {
    const downloadScript = program("download.js", "setInterval(() => {}, 1000)");
    expect(await failure(search({ downloadScript, downloadStallMilliseconds: 300 }))).to.match(
      /download failed \(nothing came/,
    );
  });

  it("ends what it has started when it is told to stop", async () => {
    program("bin/go", `#!/bin/sh\necho $$ > ${join(folder, "go.pid")}\nexec sleep 60\n`);
    const controller = new AbortController();
    const say = (line: string) => {
      if (line.includes("so far") && existsSync(join(folder, "go.pid"))) controller.abort(new Error("stopped"));
    };
    expect(await failure(search({ say, signal: controller.signal }))).to.equal("stopped");
    const pid = Number(readFileSync(join(folder, "go.pid"), "utf8"));
    // It was killed; that the system has done with it takes a moment more.
    await eventually(
      async () => isAlive(pid),
      (alive) => !alive,
    );
    expect(readdirSync(join(folder, "cache"))).to.deep.equal(["temporal-cli-v1.5.1"]);
  });
});
