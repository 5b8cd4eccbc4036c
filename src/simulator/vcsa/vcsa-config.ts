import type * as t from "io-ts";
import { Identifier, ListOf, model, OneOf } from "../../domain/codec";

/** A version that the management server can be brought to. */
export const ApplianceUpdate = model(
  { version: Identifier },
  {
    name: Identifier,
    releaseDate: Identifier,
    severity: OneOf("CRITICAL", "IMPORTANT", "MODERATE", "LOW"),
  },
);
export type ApplianceUpdate = t.TypeOf<typeof ApplianceUpdate>;

/** The management server itself (docs/simulator.md): what it runs, what it is offered, and addresses that are taken. */
export const ApplianceConfig = model(
  {},
  { version: Identifier, updates: ListOf(ApplianceUpdate), usedAddresses: ListOf(Identifier) },
);
export type ApplianceConfig = t.TypeOf<typeof ApplianceConfig>;

/** The configuration with everything that it leaves out. */
export function applianceConfig(configured: ApplianceConfig = {}): Required<ApplianceConfig> {
  return {
    version: "9.0.0.0",
    updates: [{ version: "9.0.1.0" }, { version: "9.0.2.0" }],
    usedAddresses: [],
    ...configured,
  };
}
