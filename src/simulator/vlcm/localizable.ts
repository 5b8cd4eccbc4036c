/** A message for people in the shape of the vAPI: a stable id, the English text, and what the text was filled with. */
export interface Localizable {
  readonly id: string;
  readonly default_message: string;
  readonly args: readonly string[];
}

const prefix = "com.vmware.vcIntegrity.lifecycle";

/** `id` is the part after the product's prefix, such as `task.apply`. */
export function localizable(id: string, text: string, ...args: string[]): Localizable {
  return { id: `${prefix}.${id}`, default_message: text, args };
}

/** One notification of a result. `at` is epoch milliseconds. */
export function notification(
  type: "INFO" | "WARNING" | "ERROR",
  { id, message, at, retriable }: { id: string; message: string; at: number; retriable?: boolean },
) {
  return {
    type,
    id: `${prefix}.${id}`,
    time: new Date(at).toISOString(),
    message: localizable(id, message),
    ...(retriable !== undefined && { retriable }),
  };
}
