import * as E from "fp-ts/Either";
import type { Logger } from "pino";
import { type FileCatalog, readBundles, readCatalog } from "../catalog/file-catalog";
import type { Config } from "../config";
import type { Bundle } from "../domain/spec/bundle";
import { type InventoryFile, readInventoryFile } from "../inventory/inventory-file";
import { readSimulatorConfig, type SimulatorConfig } from "../simulator/config/simulator-config";
import { sentences, StartupError } from "../startup-error";

/** The inventory that the configuration names. Throws a StartupError that names the file and its variable. */
export function loadInventory({ inventoryFile, environment }: Config): InventoryFile {
  return loaded("INVENTORY_FILE", inventoryFile, readInventoryFile(inventoryFile, environment));
}

/**
 * The bundle catalog that the configuration names, which follows its file; `log` is told when that changes. Throws a
 * StartupError that names the file and its variable.
 */
export function loadCatalog({ catalogFile }: Config, log?: Pick<Logger, "info" | "error">): FileCatalog {
  const read = readCatalog(catalogFile, {
    onRenewed: (bundles) => log?.info({ bundles: bundles.length }, "Bundle catalog reloaded"),
    onBroken: (lines) =>
      log?.error(
        `CATALOG_FILE=${catalogFile} cannot be used: ${sentences(lines)} The previous bundles stay; correct the file.`,
      ),
  });
  return loaded("CATALOG_FILE", catalogFile, read);
}

/** What the simulator simulates, as the configuration says. Throws a StartupError that names the file and its variable. */
export function loadSimulatorConfig({ simulator: { configFile } }: Config): SimulatorConfig {
  return loaded("SIMULATOR_CONFIG", configFile, readSimulatorConfig(configFile));
}

/** Throws the StartupError of the first of the operator's files that cannot be used. */
export function checkOperatorFiles(config: Config): void {
  loadInventory(config);
  loadCatalog(config);
  loadSimulatorConfig(config);
}

function loaded<A>(variable: string, file: string, read: E.Either<readonly string[], A>): A {
  if (E.isRight(read)) return read.right;
  throw new StartupError(`${variable}=${file} cannot be used: ${sentences(read.left)} Correct it or set ${variable}.`);
}

/** A bundle as the catalog's file has it at this moment. Throws where the file is not a catalog. */
export function readBundleNow({ catalogFile }: Config, bundleId: string): Bundle | undefined {
  return loaded("CATALOG_FILE", catalogFile, readBundles(catalogFile)).find(({ id }) => id === bundleId);
}
