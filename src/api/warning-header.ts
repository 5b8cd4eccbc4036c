import type { RequestWarning } from "../domain/request-warning";

/** The longest header; proxies refuse long ones, and the body tells every warning. */
const mostBytes = 4096;

/**
 * The header `Warning` (RFC 7234, 5.5): one `299 - "text"` for each warning of an answer, in ASCII, as many as fit. Absent
 * where there are none.
 */
export const warningHeader = {
  description: 'What of the request was ignored, `299 - "text"` each; `warnings` of the body tells the same.',
  of: ({ warnings = [] }: { readonly warnings?: readonly RequestWarning[] }): string | undefined => {
    const values = warnings.map(({ message }) => `299 - "${quotable(message)}"`);
    while (values.join(", ").length > mostBytes) values.pop();
    return values.length === 0 ? undefined : values.join(", ");
  },
};

function quotable(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, "?").replace(/["\\]/g, "\\$&");
}
