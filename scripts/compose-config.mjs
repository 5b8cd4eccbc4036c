import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { cachedTool } from "./cached-tool.mjs";
import { root, run } from "./run.mjs";

const source = join(root, "test", "unit", "deployment", "compose-config");

/**
 * The path of a program that loads a Compose project as `docker compose config -q` does, with the same library. Docker
 * Compose itself takes Go ten times as long to build, so only the containers suite has it.
 */
export async function composeConfig(cacheDir, { say, signal }) {
  const digest = createHash("sha256");
  for (const name of ["main.go", "go.mod", "go.sum"]) digest.update(readFileSync(join(source, name))).update("\0");
  const told = {
    making: "Building the loader of Compose files with Go; this happens once and takes about half a minute",
    needed: "The tests of docker-compose.yml need Go 1.23 or later: put `go` on PATH and let it reach a module proxy.",
    say,
  };
  const place = await cachedTool(join(cacheDir, `compose-config-${digest.digest("hex").slice(0, 12)}`), told, (fresh) =>
    run("go build", "go", ["build", "-C", source, "-o", join(fresh, "compose-config"), "."], {
      signal,
      env: { ...process.env, CGO_ENABLED: "0", GOFLAGS: "-buildvcs=false" },
    }),
  );
  return join(place, "compose-config");
}
