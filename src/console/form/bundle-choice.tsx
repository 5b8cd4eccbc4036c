import type { Bundle } from "../../domain/bundle";
import { productsOf } from "../../domain/bundle-products";
import { productWords } from "../words/product-words";
import { FieldNotes, useDescription } from "./field-notes";
import { useForm } from "./form-context";

const label = "Bundle";

/** Which bundle is installed, and what it brings. One that cannot be installed now says why. */
export function BundleChoice({ bundles }: { readonly bundles: readonly Bundle[] }) {
  const { form, change } = useForm();
  const chosen = bundles.find(({ id }) => id === form.bundleId);
  const isUnknown = form.bundleId !== "" && !chosen;
  return (
    <div class="spec-field">
      <label for="field-bundleId">{label}</label>
      <select
        {...useDescription("bundleId")}
        value={form.bundleId}
        onChange={(event) => change(["bundleId"], event.currentTarget.value)}
      >
        <option value="">Choose one</option>
        {isUnknown && <option value={form.bundleId}>{form.bundleId} (not in the catalog)</option>}
        {bundles.map((bundle) => (
          <option key={bundle.id} value={bundle.id} disabled={obstacle(bundle) !== undefined}>
            {[bundle.description, bundle.version].filter(Boolean).join(", ") || bundle.id}
            {obstacle(bundle) !== undefined && ` (${obstacle(bundle)})`}
          </option>
        ))}
      </select>
      <FieldNotes
        path="bundleId"
        words={{ label, hint: chosen ? factsOf(chosen) : "The versions that are installed." }}
      />
    </div>
  );
}

function obstacle({ downloadStatus = "PENDING" }: Bundle): string | undefined {
  if (downloadStatus === "SUCCESSFUL") return undefined;
  return downloadStatus === "RECALLED" ? "recalled by its vendor" : "not downloaded";
}

function factsOf(bundle: Bundle): string {
  const products = productsOf(bundle).map((product) => {
    const version = bundle.components?.find(({ type }) => type === product)?.toVersion;
    return version === undefined ? productWords[product] : `${productWords[product]} ${version}`;
  });
  const facts = [bundle.severity?.toLowerCase(), bundle.releasedDate && `released ${bundle.releasedDate}`].filter(
    Boolean,
  );
  const brings = `Brings ${products.join(", ") || "nothing that can be upgraded"}`;
  return facts.length === 0 ? brings : `${brings} (${facts.join(", ")})`;
}
