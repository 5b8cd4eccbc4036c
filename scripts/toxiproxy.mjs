import { join } from "node:path";
import { cachedTool, goInstall } from "./cached-tool.mjs";

const version = "2.12.0";

/**
 * The path of Toxiproxy's server, which the network suite puts between the parts of the service. Go builds it; it is
 * kept in the cache.
 */
export async function toxiproxy(cacheDir, { say, signal }) {
  const told = {
    making: `Building Toxiproxy ${version} with Go; this happens once and takes about half a minute`,
    needed: `The network suite needs Toxiproxy ${version}, which Go builds: put \`go\` on PATH and let it reach a module proxy.`,
    say,
  };
  const place = await cachedTool(join(cacheDir, `toxiproxy-${version}`), told, (fresh) =>
    goInstall(`github.com/Shopify/toxiproxy/v2/cmd/server@v${version}`, fresh, signal),
  );
  return join(place, "server");
}
