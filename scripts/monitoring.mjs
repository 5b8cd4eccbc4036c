import { mkdirSync, readdirSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { cachedTool, goInstall } from "./cached-tool.mjs";
import { run } from "./run.mjs";

const alertmanagerVersion = "0.28.1";

/** The programs that the third-party suite asks own checks of, as operators run them. */
export async function monitoring(cacheDir, told) {
  return { prometheus: await prometheus(cacheDir, told), alertmanager: await alertmanager(cacheDir, told) };
}

/**
 * The path of Prometheus, of the Debian release that this machine runs: building it takes ten times as long as Alertmanager. Its
 * package is unpacked, not installed, by package lists of its own, so that it needs neither root nor lists that are up to date.
 */
async function prometheus(cacheDir, { say, signal }) {
  const release = /^VERSION_CODENAME=(\w+)$/m.exec(readFileSync("/etc/os-release", "utf8"))?.[1];
  const told = {
    making: `Downloading Prometheus (Debian ${release}); this happens once`,
    needed: `The third-party suite needs the package prometheus of Debian ${release}: run it where \`apt-get\` reaches Debian's packages.`,
    say,
    keep: "made",
  };
  const place = await cachedTool(join(cacheDir, `prometheus-debian-${release}-1`), told, async (fresh) => {
    const folders = ["lists/partial", "cache/archives/partial", "made"].map((name) => join(fresh, name));
    for (const folder of folders) mkdirSync(folder, { recursive: true });
    const options = ["-o", `Dir::State::Lists=${join(fresh, "lists")}`, "-o", `Dir::Cache=${join(fresh, "cache")}`];
    await run("apt-get update", "apt-get", [...options, "update"], { signal });
    await run("apt-get download", "env", ["-C", fresh, "apt-get", ...options, "download", "prometheus"], { signal });
    const archive = readdirSync(fresh).find((name) => name.endsWith(".deb"));
    await run("dpkg -x", "dpkg", ["-x", join(fresh, archive), join(fresh, "unpacked")], { signal });
    renameSync(join(fresh, "unpacked", "usr", "bin", "prometheus"), join(fresh, "made", "prometheus"));
  });
  return join(place, "prometheus");
}

/** The path of Alertmanager. Debian's has its templates at a fixed place, where nothing is unless it is installed. */
async function alertmanager(cacheDir, { say, signal }) {
  const told = {
    making: `Building Alertmanager ${alertmanagerVersion} with Go; this happens once and takes about a minute`,
    needed: `The third-party suite needs Alertmanager ${alertmanagerVersion}, which Go builds: put \`go\` on PATH and let it reach a module proxy.`,
    say,
  };
  const place = await cachedTool(join(cacheDir, `alertmanager-${alertmanagerVersion}`), told, (fresh) =>
    goInstall(`github.com/prometheus/alertmanager/cmd/alertmanager@v${alertmanagerVersion}`, fresh, signal),
  );
  return join(place, "alertmanager");
}
