import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { PreparationError, run } from "./run.mjs";

const version = "9.1.1.0";
/** Management interface; lifecycle manager and appliance; NETVIRT; a service of our kind. */
const packages = ["pyvmomi", "vmware-vcenter", "vcf-nsx", "vmware-sddc-manager"].map((name) => `${name}==${version}`);

/**
 * The folder of the vendor's own Python clients, which the third-party suite runs against the simulator and against the
 * service. They are installed by pip into the cache, once for each list of packages.
 */
export async function vendorClients(cacheDir, { say, signal }) {
  const place = join(cacheDir, `vendor-clients-${version}-${packages.length}`);
  if (existsSync(place)) return place;
  say(`Installing the vendor's Python clients ${version} (pip); this happens once and takes about a minute`);
  mkdirSync(cacheDir, { recursive: true });
  const fresh = mkdtempSync(join(cacheDir, ".making-vendor-clients-"));
  try {
    await run("pip", "python3", ["-m", "pip", "install", "--quiet", "--target", fresh, ...packages], { signal });
    // Moved in one step: an interrupted installation leaves nothing half done.
    renameSync(fresh, place);
  } catch (error) {
    if (!existsSync(place))
      throw new PreparationError(
        `The third-party suite needs the vendor's Python clients: python3 -m pip install --target ${place} ${packages.join(" ")}\n${error.message}`,
      );
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
  return place;
}
