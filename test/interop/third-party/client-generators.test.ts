import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { projectRoot } from "../../../src/config";
import { ServiceUnderTest } from "../../support/service/service-under-test";

const run = promisify(execFile);
const sources = join(__dirname, "client-generators");
const docs = readFileSync(join(projectRoot, "docs/openapi.md"), "utf8");
const documentedUrl = "http://127.0.0.1:8080";
const cluster = (number: string) => `4a6c1a1e-51b2-4d3c-9e0f-0000000000${number}`;
const bundles = ["7d1c1f6e-3a52-4f0e-9c11-5c0a90010001", "7d1c1f6e-3a52-4f0e-9c11-5c0a90020002"];

/** A generator, and the client that is written for what it makes. */
interface Generator {
  /** As it is called in the documented commands. */
  readonly name: string;
  /** Its folder, below this one and below that of the installed generators. */
  readonly language: "typescript" | "python" | "go";
  /** The cluster that its client upgrades: each has one of its own. */
  readonly cluster: string;
  /** What finds the generator and what its client needs. */
  readonly env: (installed: string) => Readonly<Record<string, string>>;
  /** Without a network: what is not installed is a failure. */
  readonly compile: readonly (readonly [string, ...string[]])[];
  readonly start: readonly [string, ...string[]];
}

const generators: readonly Generator[] = [
  {
    name: "openapi-typescript",
    language: "typescript",
    cluster: cluster("47"),
    env: () => ({}),
    compile: [["npx", "--no", "tsc"]],
    start: ["node", "built/client.js"],
  },
  {
    name: "openapi-python-client",
    language: "python",
    cluster: cluster("34"),
    env: (installed) => ({
      PATH: [join(installed, "bin"), process.env["PATH"]].join(delimiter),
      PYTHONPATH: installed,
      PYTHONDONTWRITEBYTECODE: "1",
    }),
    // What the generator brings itself, client.py, has errors under --strict whatever the document says.
    compile: [
      ["python3", "-m", "mypy", "--strict", "--follow-imports=silent", "client.py", "upgrades/api", "upgrades/models"],
    ],
    start: ["python3", "client.py"],
  },
  {
    name: "oapi-codegen",
    language: "go",
    cluster: cluster("21"),
    env: (installed) => ({
      PATH: [installed, process.env["PATH"]].join(delimiter),
      GOMODCACHE: join(installed, "modules"),
      GOPROXY: "off",
      GOFLAGS: "-mod=readonly",
    }),
    compile: [
      ["go", "vet", "./..."],
      ["go", "build", "-o", "client", "."],
    ],
    start: ["./client"],
  },
];

/** The commands by which docs/openapi.md makes a client: the block that names the document and the generator. */
function documentedCommands(name: string): string {
  const blocks = [...docs.matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, commands = ""]) => commands);
  const found = blocks.filter((block) => block.includes(name) && block.includes(documentedUrl));
  expect(found, `blocks of docs/openapi.md that generate with ${name}`).to.have.length(1);
  return found[0] ?? "";
}

describe("clients that generators make of /openapi.json", function () {
  this.timeout(300_000);
  let folder: string;
  let service: ServiceUnderTest | undefined;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "client-generators-"));
    service = await ServiceUnderTest.start();
  });
  after(async () => {
    await service?.discard();
    rmSync(folder, { recursive: true, force: true });
  });

  for (const { name, language, cluster, env: own, compile, start } of generators) {
    it(`${name}: compile, and start, commit, follow and cancel upgrades`, async () => {
      const generatorsFolder = process.env["CLIENT_GENERATORS"];
      if (!generatorsFolder)
        throw new Error(
          "CLIENT_GENERATORS is not set: run `npm test -- interop/third-party`, which installs them and sets that.",
        );
      const [cwd, url] = [join(folder, language), service?.apiUrl ?? ""];
      cpSync(join(sources, language), cwd, { recursive: true });
      const installed = join(generatorsFolder, language);
      if (language === "typescript") symlinkSync(join(installed, "node_modules"), join(cwd, "node_modules"));
      const options = { cwd, env: { ...process.env, ...own(installed) }, timeout: 200_000 };
      const ran = async ([program, ...args]: readonly [string, ...string[]]) => {
        try {
          return (await run(program, args, options)).stdout;
        } catch (error) {
          const { stdout = "", stderr = "" } = error as { readonly stdout?: string; readonly stderr?: string };
          throw new Error(`${program} ${args.join(" ")} failed: ${stdout}${stderr}`, { cause: error });
        }
      };
      await ran(["bash", "-euc", documentedCommands(name).replaceAll(documentedUrl, url)]);
      for (const command of compile) await ran(command);
      const [program, ...args] = start;
      expect(JSON.parse(await ran([program, ...args, url, "any", cluster, ...bundles]))).to.deep.equal({
        drafted: "DRAFT",
        upgraded: ["Successful", "COMPLETED_WITH_SUCCESS"],
        followed: true,
        cancelled: ["Cancelled", "CANCELLED"],
        listed: [true],
        unknown: "UPGRADE_NOT_FOUND",
      });
    });
  }

  it("are documented with the versions that were tried", () => {
    const read = (path: string) => readFileSync(path, "utf8");
    const { dependencies, devDependencies } = JSON.parse(read(join(sources, "typescript/package.json"))) as {
      readonly dependencies: Readonly<Record<string, string>>;
      readonly devDependencies: Readonly<Record<string, string>>;
    };
    const npm = Object.entries({ ...dependencies, ...devDependencies }).map(([name, version]) => `${name}@${version}`);
    const [python = ""] = /^openapi-python-client==.*$/m.exec(read(join(sources, "python/requirements.txt"))) ?? [];
    const [go = ""] = /github.com\/oapi-codegen\/oapi-codegen\/[^"]*/.exec(
      read(join(projectRoot, "scripts/client-generators.mjs")),
    ) ?? [""];
    const [, module, version] = /^require (\S+) (\S+)$/m.exec(read(join(sources, "go/go.mod"))) ?? [];
    for (const installed of [...npm, python, go, `${module}@${version}`]) expect(docs).to.contain(installed);
  });
});
