import type { MethodFault } from "./vim25-state";

/** A fault with which a method answers instead of doing its work. */
export class MethodFaultError extends Error {
  override readonly name = "MethodFaultError";
  constructor(readonly fault: MethodFault) {
    super(fault.message);
  }
}

/** `type` is a fault of the vendor's schema; `fields` are its own. */
export function methodFault(type: string, message: string, fields?: Record<string, string>): MethodFaultError {
  return new MethodFaultError({ type, message, ...(fields && { fields }) });
}
