import { join } from "node:path";
import { pythonPackages } from "./python-packages.mjs";

const version = "9.1.1.0";
/** Management interface; lifecycle manager and appliance; NETVIRT; a service of our kind. */
const packages = ["pyvmomi", "vmware-vcenter", "vcf-nsx", "vmware-sddc-manager"].map((name) => `${name}==${version}`);

/**
 * The folder of the vendor's own Python clients, which the third-party suite runs against the simulator and against the
 * service.
 */
export function vendorClients(cacheDir, told) {
  const asked = { what: `the vendor's Python clients ${version}`, asked: packages };
  return pythonPackages(join(cacheDir, `vendor-clients-${version}-${packages.length}`), asked, told);
}
