import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Document } from "openapi-backend";

interface Operation {
  responses: Record<string, object>;
}

const apiError = {
  type: "object",
  required: ["httpStatus", "error_code", "module_name", "error_message"],
  properties: {
    httpStatus: { type: "string" },
    error_code: { type: "integer" },
    module_name: { type: "string" },
    error_message: { type: "string" },
    details: { type: "string" },
    related_errors: { type: "array", items: { $ref: "#/components/schemas/Vcf.Nsx.Model.RelatedApiError" } },
  },
};

/**
 * The upgrade coordinator's contract with the errors that are on the wire. The client bindings from which it was made
 * know one error, in the form in which their own runtime wraps it; the product answers several statuses with a body of
 * its own (docs/simulator.md, Contract). Nothing else of the contract is changed.
 */
export function nsxContract(): Document {
  const text = readFileSync(join(__dirname, "nsx-upgrade.openapi.json"), "utf8");
  const document = JSON.parse(text) as { paths: Record<string, Record<string, Operation>> };
  const content = { "application/json": { schema: apiError } };
  for (const path of Object.values(document.paths)) {
    for (const operation of Object.values(path)) {
      for (const status of ["400", "401", "403", "404", "412", "500", "503"]) {
        operation.responses[status] = { description: status, content };
      }
    }
  }
  return document as unknown as Document;
}
