import type { UpgradeSpec } from "../../domain/spec/upgrade-spec";

/** The request as people read it, and as it is shown beside the command. */
export function jsonOf(spec: UpgradeSpec): string {
  return JSON.stringify(spec, null, 2);
}

/**
 * The same request for a shell. `authorization` is already quoted for it: a header as it is, or one with a variable that
 * somebody sets to their token, which is never part of the command. A quotation mark in the request ends the shell's
 * own, so it is written the long way.
 */
export function curlOf(origin: string, spec: UpgradeSpec, authorization: string): string {
  return [
    `curl -sS -X POST ${quoted(`${origin}/v1/upgrades`)}`,
    `-H ${authorization}`,
    `-H 'Content-Type: application/json'`,
    `--data-raw ${quoted(jsonOf(spec))}`,
  ].join(" \\\n  ");
}

/** The Authorization header of such a command. In AUTH_MODE=dev any is taken. */
export function shellAuthorization(authenticationMode: string | undefined): string {
  return authenticationMode === "dev" ? "'Authorization: Bearer console'" : '"Authorization: Bearer $ACCESS_TOKEN"';
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
