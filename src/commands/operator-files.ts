import * as E from "fp-ts/Either";
import { readCatalog } from "../catalog/file-catalog";
import type { Config } from "../config";
import { readInventoryFile, type InventoryFile } from "../inventory/inventory-file";
import { StartupError } from "../startup-error";
import type { BundleCatalog } from "../upgrades/ports";

/** The inventory that the configuration names. Throws a StartupError that names the file and its variable. */
export function loadInventory({ inventoryFile, environment }: Config): InventoryFile {
  return loaded("INVENTORY_FILE", inventoryFile, readInventoryFile(inventoryFile, environment));
}

/** The bundle catalog that the configuration names. Throws a StartupError that names the file and its variable. */
export function loadCatalog({ catalogFile }: Config): BundleCatalog {
  return loaded("CATALOG_FILE", catalogFile, readCatalog(catalogFile));
}

function loaded<A>(variable: string, file: string, read: E.Either<readonly string[], A>): A {
  if (E.isRight(read)) return read.right;
  throw new StartupError(`${variable}=${file} cannot be used: ${read.left.join(" ")} Correct it or set ${variable}.`);
}
