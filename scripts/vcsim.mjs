import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { cachedTool } from "./cached-tool.mjs";
import { root, run } from "./run.mjs";

const source = join(root, "test", "interop", "third-party", "vcsim");

/**
 * The path of vcsim, the govmomi project's simulator of a component manager, against which the third-party suite runs
 * our driver. It is built by Go from test/interop/third-party/vcsim and kept in the cache, one build for each state of that.
 */
export async function vcsim(cacheDir, { say, signal }) {
  const digest = createHash("sha256");
  for (const name of ["main.go", "go.mod", "go.sum"]) digest.update(readFileSync(join(source, name))).update("\0");
  const told = {
    making: "Building vcsim with Go; this happens once and takes about half a minute",
    needed:
      "The third-party suite needs vcsim, which Go 1.25 or later builds from test/interop/third-party/vcsim: install Go, put `go` on PATH and let it reach a module proxy.",
    say,
  };
  const place = await cachedTool(join(cacheDir, `vcsim-${digest.digest("hex").slice(0, 12)}`), told, (fresh) =>
    run("go build", "go", ["build", "-C", source, "-o", join(fresh, "vcsim"), "."], { signal }),
  );
  return join(place, "vcsim");
}
