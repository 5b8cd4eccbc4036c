import { cachedTool } from "./cached-tool.mjs";
import { run } from "./run.mjs";

/**
 * A folder in the cache with Python packages, which pip installs there once. `asked` is what pip is asked for, `what`
 * names it to people.
 */
export function pythonPackages(place, { what, asked }, { say, signal }) {
  const told = {
    making: `Installing ${what} (pip); this happens once and takes about a minute`,
    needed: `The tests need ${what}: python3 -m pip install --target ${place} ${asked.join(" ")}`,
    say,
  };
  return cachedTool(place, told, (fresh) =>
    run("pip", "python3", ["-m", "pip", "install", "--quiet", "--target", fresh, ...asked], { signal }),
  );
}
