// expect TS2366
import type { ServiceError } from "../../../../src/upgrades/service-error";

export function statusOf(error: ServiceError): number {
  switch (error._tag) {
    case "BadRequest":
      return 400;
    case "NotAllowed":
      return 403;
    case "FailedDependency":
      return 424;
    case "NotFound":
      return 404;
    case "Unexpected":
    case "TemporalUnreachable":
      return 500;
  }
}
