/** How a sample of a query compares with a number where a check passes. */
export type CheckOperator = "LT" | "LE" | "EQ" | "NE" | "GE" | "GT";

interface Address {
  readonly url: string;
  /** Sent as bearer token. */
  readonly token?: string;
}

/** How a check of the inventory is asked; holds secrets, so it is never logged. */
export type CheckDefinition = { readonly id: string; readonly timeoutSeconds: number } & (
  | ({
      readonly kind: "PROMETHEUS";
      readonly query: string;
      /** What every sample must meet. */
      readonly condition: { readonly operator: CheckOperator; readonly value: number };
      /** Whether a result without samples passes. */
      readonly emptyPasses: boolean;
    } & Address)
  | ({
      readonly kind: "ALERTMANAGER";
      /** Matchers, all of which an alert meets that counts. */
      readonly filter: readonly string[];
    } & Address)
  | { readonly kind: "WEBHOOK"; readonly url: string; readonly secrets: readonly string[] }
);
