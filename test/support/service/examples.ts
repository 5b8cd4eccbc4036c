import { readFileSync } from "node:fs";
import { resolve } from "node:path";

interface Spec {
  readonly bundleId: string;
  readonly resourceType: string;
  readonly draftMode?: boolean;
  readonly resourceUpgradeSpecs: readonly { readonly resourceId: string }[];
}

/** A file of examples/, as README has people post it. */
export function example(name: string): Spec {
  return JSON.parse(readFileSync(resolve(__dirname, "../../../examples", `${name}.json`), "utf8")) as Spec;
}

/** The example without its draft mode: runs at once. */
export function exampleNow(name: string): Omit<Spec, "draftMode"> {
  const { draftMode: _, ...spec } = example(name);
  return spec;
}
