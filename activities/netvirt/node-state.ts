import type { NetvirtNodeState } from "../../src/domain/netvirt-upgrade";
import { bounded } from "../drivers/driver-error";
import type { UnitStatus } from "../drivers/nsx/nsx-models";

/** One node as the coordinator reports it; a status that is not known counts as in work. */
export function nodeStateOf({
  id,
  status = "NOT_STARTED",
  percent_complete = 0,
  errors = [],
}: UnitStatus): NetvirtNodeState {
  const percent = Math.min(100, Math.max(0, percent_complete));
  const told = errors.filter((error) => error !== "").join(" ");
  switch (status) {
    case "SUCCESS":
      return { id, status, percent: 100 };
    case "FAILED":
      return { id, status, percent, ...(told !== "" && { error: bounded(told, 200) }) };
    // A paused unit has not begun, or has been brought to a safe point; it goes on when the component does.
    case "NOT_STARTED":
    case "PAUSED":
      return { id, status: "NOT_STARTED", percent };
    default:
      return { id, status: "IN_PROGRESS", percent };
  }
}
