import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Document } from "openapi-backend";

const methods = ["get", "put", "post", "patch", "delete"] as const;

const text = { type: "string" } as const;

const apiError = {
  type: "object" as const,
  required: ["httpStatus", "error_code", "module_name", "error_message"],
  properties: {
    httpStatus: text,
    error_code: { type: "integer" as const },
    module_name: text,
    error_message: text,
    details: text,
    related_errors: { type: "array" as const, items: { $ref: "#/components/schemas/Vcf.Nsx.Model.RelatedApiError" } },
  },
};

/**
 * The upgrade coordinator's contract with the errors that are on the wire. The client bindings from which it was made
 * know one error, in the form in which their own runtime wraps it; the product answers several statuses with a body of
 * its own (docs/simulator.md, Contract). Nothing else of the contract is changed.
 */
export function nsxContract(): Document {
  const document = JSON.parse(readFileSync(join(__dirname, "nsx-upgrade.openapi.json"), "utf8")) as Document;
  const content = { "application/json": { schema: apiError } };
  for (const path of Object.values(document.paths ?? {})) {
    for (const method of methods) {
      const responses = path?.[method]?.responses ?? {};
      for (const status of ["400", "401", "403", "404", "412", "500", "503"]) {
        responses[status] = { description: status, content };
      }
    }
  }
  return document;
}
