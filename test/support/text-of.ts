/** All texts in a message of Temporal (a history, a description), also those within payloads. */
export function textOf(value: unknown): string {
  if (value instanceof Uint8Array) return Buffer.from(value).toString();
  if (typeof value === "object" && value !== null) return Object.values(value).map(textOf).join("\n");
  return typeof value === "string" ? value : "";
}
