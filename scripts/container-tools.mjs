import { chmodSync, copyFileSync, cpSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { cachedTool, goInstall } from "./cached-tool.mjs";
import { PreparationError, root, run } from "./run.mjs";

const compose = "2.40.3";
/** npm as it comes with the Node of the Dockerfile. */
const npm = "10.8.2";
const debianPackages = ["ca-certificates", "hostname", "netcat-openbsd", "tzdata", "wget"];

/**
 * What the containers suite needs beside the programs of the production suite: Docker Compose, and the contents of the
 * stand-in images (test/e2e/containers/stand-ins). Each is kept in the cache; answers their folders. Makes one after the
 * other, because each of them has all processors to itself.
 */
export async function containerTools(cacheDir, { say, signal }) {
  const told = { cacheDir, say, signal };
  return {
    debianBase: await debianBase(told),
    nodeProgram: await nodeProgram(told),
    temporalUi: await temporalUi(told),
    dockerCompose: await dockerCompose(told),
  };
}

/** `docker-compose`, which is at once a plugin of the command `docker`. Its module cannot be had by `go install`. */
function dockerCompose({ cacheDir, say, signal }) {
  const told = {
    making: `Building Docker Compose ${compose} with Go; this happens once and takes about three minutes`,
    needed: `The containers suite needs Docker Compose ${compose}, which Go builds: put \`go\` on PATH and let it reach a module proxy.`,
    say,
    keep: "docker-compose",
  };
  return cachedTool(join(cacheDir, `docker-compose-${compose}`), told, async (fresh) => {
    const source = join(fresh, "source");
    cpSync(await moduleFolder(`github.com/docker/compose/v2@v${compose}`, signal), source, { recursive: true });
    await run("chmod", "chmod", ["-R", "u+w", source], { signal });
    const flags = ["-trimpath", "-ldflags", `-s -w -X github.com/docker/compose/v2/internal.Version=v${compose}`];
    mkdirSync(join(fresh, told.keep));
    const target = join(fresh, told.keep, "docker-compose");
    await run("go build", "go", ["build", "-C", source, ...flags, "-o", target, "./cmd"], { signal, env: staticGo });
  });
}

/** `ui-server` of Temporal's Web UI, with the configuration and the script that its image has. */
function temporalUi({ cacheDir, say, signal }) {
  const version = imageVersion("temporalio/ui");
  const told = {
    making: `Building Temporal's Web UI ${version} with Go; this happens once and takes about a minute`,
    needed: `The containers suite needs Temporal's Web UI ${version}, which Go builds: put \`go\` on PATH and let it reach a module proxy.`,
    say,
  };
  return cachedTool(join(cacheDir, `temporal-ui-${version}`), told, async (fresh) => {
    const module = "github.com/temporalio/ui-server/v2";
    await goInstall(`${module}/cmd/server@v${version}`, fresh, signal);
    renameSync(join(fresh, "server"), join(fresh, "ui-server"));
    const folder = await moduleFolder(`${module}@v${version}`, signal);
    copyFileSync(join(folder, "config", "docker.yaml"), join(fresh, "docker.yaml"));
    copyFileSync(join(folder, "docker", "start-ui-server.sh"), join(fresh, "start-ui-server.sh"));
    chmodSync(join(fresh, "start-ui-server.sh"), 0o755);
  });
}

/** `node` and `npm` of the Dockerfile's base image, from their packages. */
function nodeProgram({ cacheDir, say, signal }) {
  const version = /^FROM node:(\d+\.\d+\.\d+)/m.exec(readFileSync(join(root, "Dockerfile"), "utf8"))?.[1];
  const packages = [`node-linux-${process.arch}@${version}`, `npm@${npm}`];
  const told = {
    making: `Installing ${packages.join(" and ")} (npm); this happens once`,
    needed: `The containers suite needs the packages ${packages.join(" and ")}.`,
    say,
    keep: "program",
  };
  return cachedTool(join(cacheDir, `node-${version}-npm-${npm}`), told, async (fresh) => {
    const args = ["install", "--prefix", fresh, "--ignore-scripts", "--no-audit", "--no-fund", ...packages];
    await run("npm install", "npm", args, { signal });
    mkdirSync(join(fresh, told.keep));
    const installed = join(fresh, "node_modules");
    copyFileSync(join(installed, `node-linux-${process.arch}`, "bin", "node"), join(fresh, told.keep, "node"));
    renameSync(join(installed, "npm"), join(fresh, told.keep, "npm"));
  });
}

/** `base.tar`: a small Debian of this machine's own release, so that programs that were built here run in it. */
function debianBase({ cacheDir, say, signal }) {
  const release = /^VERSION_CODENAME=(\w+)$/m.exec(readFileSync("/etc/os-release", "utf8"))?.[1];
  const told = {
    making: `Installing a small Debian (debootstrap ${release}); this happens once and takes about a minute`,
    needed: `The containers suite needs a Debian ${release} from debootstrap, which root can run: install it and let it reach Debian's packages.`,
    say,
    keep: "made",
  };
  return cachedTool(join(cacheDir, `debian-${release}-1`), told, async (fresh) => {
    const folder = join(fresh, "base");
    const args = ["--variant=minbase", `--include=${debianPackages.join(",")}`, release, folder];
    await run("debootstrap", "debootstrap", args, { signal });
    for (const name of ["var/cache/apt", "var/lib/apt/lists", "usr/share/doc", "usr/share/man", "usr/share/locale"])
      rmSync(join(folder, name), { recursive: true, force: true });
    mkdirSync(join(fresh, told.keep));
    await run("tar", "tar", ["-C", folder, "-cf", join(fresh, told.keep, "base.tar"), "."], { signal });
  });
}

const staticGo = { ...process.env, CGO_ENABLED: "0", GOFLAGS: "-buildvcs=false" };

/** The folder to which Go downloads a module. */
async function moduleFolder(module, signal) {
  const env = { ...process.env, GOFLAGS: "" };
  const printed = await run("go mod download", "go", ["mod", "download", "-json", module], { signal, env });
  return JSON.parse(printed.slice(printed.indexOf("{"), printed.lastIndexOf("}") + 1)).Dir;
}

/** docker-compose.yml is the only place that names the versions of its images. */
function imageVersion(image) {
  const text = readFileSync(join(root, "docker-compose.yml"), "utf8");
  const version = new RegExp(`image: ${image}:(\\d+\\.\\d+\\.\\d+)$`, "m").exec(text)?.[1];
  if (!version) throw new PreparationError(`docker-compose.yml names no version of ${image}`);
  return version;
}
