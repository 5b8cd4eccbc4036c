import type { Bundle } from "../../domain/bundle";
import { productsOf } from "../../domain/bundle-products";
import { UpgradeSpec } from "../../domain/upgrade-spec";
import { requestWords } from "../words/server-words";
import { useForm } from "./form-context";
import { SpecFields } from "./spec-fields";

const inputs = [
  { product: "NETVIRT", field: "netvirtUpgradeUserInputSpecs" },
  { product: "MGMT", field: "mgmtUpgradeUserInputSpecs" },
] as const;

/** Inputs for the products beside hosts: those of the bundle, and those that are filled in although it has none. */
export function ServerFields({ bundle }: { readonly bundle: Bundle | undefined }) {
  const { form } = useForm();
  const products = bundle ? productsOf(bundle) : [];
  const shown = inputs.filter(({ product, field }) => products.includes(product) || form[field] !== undefined);
  return (
    <>
      {shown.map(({ product, field }) => (
        <details key={product} class="panel">
          <summary>{requestWords[field].label}</summary>
          {bundle && !products.includes(product) && (
            <p class="field-error">
              The bundle has no version of it. Take these inputs away, or choose another bundle.
            </p>
          )}
          <SpecFields path={[]} codec={UpgradeSpec} words={requestWords} only={[field]} />
        </details>
      ))}
    </>
  );
}
