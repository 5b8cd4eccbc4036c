import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parse } from "yaml";

/** A bundle of one product, as a catalog file has it; its id is the product in lower case. */
const serverBundle = (type: "NETVIRT" | "MGMT", toVersion: string) => ({
  id: type.toLowerCase(),
  type: "SDDC_MANAGER",
  version: "9.0.2",
  downloadStatus: "SUCCESSFUL",
  components: [{ id: type, type, toVersion }],
});

/** The bundles `netvirt` and `mgmt`, which the shipped catalog does not have. */
export const serverBundles = [serverBundle("NETVIRT", "9.0.1.0.24952111"), serverBundle("MGMT", "9.0.2.0")];

/** Writes the catalog as shipped, with those bundles; gives the file. */
export function catalogWithServers(folder: string): string {
  const file = join(folder, "bundles.yaml");
  const shipped = parse(readFileSync(resolve(__dirname, "../../config/bundles.yaml"), "utf8")) as object[];
  writeFileSync(file, JSON.stringify([...shipped, ...serverBundles]));
  return file;
}
