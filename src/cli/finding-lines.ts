import { legible } from "../domain/legible";
import type { Finding, FindingCounts } from "../domain/spec/finding";
import type { Task } from "../domain/spec/task";
import { currentFindings, isAcknowledged } from "../domain/task/findings";
import { timeIn } from "./time-text";
import type { Style } from "./text";

interface FindingsView {
  readonly style: Style;
  readonly now: number;
  readonly zone: string;
}

/** What the latest prechecks of each resource have found, a finding a line. */
export function findingLines(task: Task, { style, now, zone }: FindingsView): string[] {
  const names = new Map((task.resources ?? []).map(({ resourceId, name }) => [resourceId, name]));
  return currentFindings(task).map(({ finding }) => {
    const { severity, code, message, resourceId, hostName, hostId = hostName } = finding;
    const of = [
      names.get(resourceId) ?? resourceId,
      ...(hostId === undefined ? [] : [`host ${hostName ?? hostId} (${hostId})`]),
    ];
    const text = legible(`${severity} ${code} of ${of.join(", ")}: ${message}`);
    if (isAcknowledged(finding, now)) return style.dim(`✔ ${text} ${acknowledgedText(finding, zone)}`);
    return severity === "ERROR"
      ? style.red(`✖ ${text}`)
      : severity === "WARNING"
        ? style.yellow(`! ${text}`)
        : `  ${text}`;
  });
}

/** What to do about a draft whose prechecks have failed. */
export function stepAfterFailedPrechecks(task: Task, now: number): string {
  const again = `\`upgradectl prechecks ${task.id} --watch\` when this is fixed`;
  const blocking = currentFindings(task).find(
    ({ finding }) => finding.severity === "ERROR" && finding.isAcknowledgeable && !isAcknowledged(finding, now),
  );
  if (!blocking) return `${again}.`;
  const { code, hostId } = blocking.finding;
  const host = hostId === undefined ? "" : ` --host ${hostId}`;
  return `${again}, or \`upgradectl acknowledge ${task.id} --code ${code}${host} --reason TEXT\`.`;
}

function acknowledgedText({ acknowledged }: Finding, zone: string): string {
  if (!acknowledged) return "";
  const { by, at, reason, until } = acknowledged;
  const end = until === undefined ? "" : `, until ${timeIn(Date.parse(until), zone)}`;
  return legible(`(acknowledged by ${by}, ${timeIn(Date.parse(at), zone)}${end}: ${reason})`);
}

/** Numbers of findings in words; what there is none of is left out. */
export function findingsText({ errors, warnings, infos, acknowledged }: FindingCounts): string {
  const counted = (count: number, one: string) => (count === 0 ? [] : [`${count} ${one}${count === 1 ? "" : "s"}`]);
  return [
    ...counted(errors, "error"),
    ...counted(warnings, "warning"),
    ...counted(infos, "note"),
    ...(acknowledged > 0 ? [`${acknowledged} acknowledged`] : []),
  ].join(", ");
}
