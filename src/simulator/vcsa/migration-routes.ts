import type { Context, Next } from "koa";
import * as t from "io-ts";
import { Identifier, ListOf, model, OneOf } from "../../domain/codec";
import type { World } from "../state/world";
import { decodeBody } from "../vlcm/decode-body";
import { invalidArgument, pathNotFound, VapiError } from "../vlcm/vapi-error";
import { send } from "../http/answering";
import type { withCredentials } from "../vlcm/vlcm-calls";
import { applianceOf } from "./appliance";
import { applyMigration, cancelMigration, initMigration, startCheck, type MigrationWish } from "./migration-operations";
import { migrationSpec, migrationStatus } from "./migration-view";

const Network = model(
  { mode: OneOf("DHCP", "STATIC") },
  {
    ip_family: OneOf("IPV4", "IPV6"),
    ip: Identifier,
    prefix: t.number,
    gateway: Identifier,
    dns_servers: ListOf(Identifier),
    hostname: Identifier,
  },
);
const InitSpec = model(
  {
    version: Identifier,
    deployment: model(
      { appliance: model({ root_password: Identifier }, { name: Identifier, network_settings: Network }) },
      {},
    ),
  },
  {},
);
const ApplySpec = model({}, { pause: OneOf("BEFORE_SWITCHOVER"), start_switchover: t.string });

function wishOf(body: unknown): MigrationWish {
  const { version, deployment } = decodeBody(InitSpec, body);
  const network = deployment.appliance.network_settings;
  if (network?.mode === "STATIC") {
    const path = "deployment.appliance.network_settings";
    const missing = (["ip", "prefix", "gateway"] as const).filter((field) => network[field] === undefined);
    const problems = missing.map((field) => `${path}.${field}: is required for STATIC`);
    if (!network.dns_servers?.length) problems.push(`${path}.dns_servers: is required for STATIC`);
    if (network.prefix !== undefined && (network.prefix < 0 || network.prefix > 32))
      problems.push(`${path}.prefix: must be from 0 to 32`);
    if (problems.length > 0) throw invalidArgument(problems);
  }
  return { version, ...(network && { network }) };
}

const path = "/vcenter/lcm/deployment/migration-upgrade";

/** Below `/api` there is the migration only since version 9.0, whatever it is a migration to. */
export function refuseOnOldSource(world: World) {
  return async (ctx: Context, next: Next): Promise<void> => {
    if (ctx.path.includes(path) && Number.parseInt(applianceOf(world).version) < 9) send(ctx, pathNotFound.answer);
    else await next();
  };
}

/** The migration to a new appliance, with reduced downtime: set, checked, applied, cancelled, and how it goes on. */
export function migrationRoutes(calls: ReturnType<typeof withCredentials>, world: World): void {
  calls.get(`${path}/status`, () => ({ status: 200, body: migrationStatus(world) }));

  calls.get(path, () => {
    const { migration } = applianceOf(world);
    if (!migration) throw new VapiError("NOT_FOUND", "migration.none", "There is no migration.");
    return { status: 200, body: migrationSpec(migration) };
  });

  calls.put(path, ({ body }) => {
    initMigration(world, wishOf(body));
    return { status: 204 };
  });

  calls.post(path, ({ query, body, user }) => {
    switch (query.get("action")) {
      case "check":
        return { status: 202, body: startCheck(world, wishOf(body), user).id };
      case "apply": {
        const spec = decodeBody(ApplySpec, body ?? {});
        if (spec.pause !== undefined && spec.start_switchover !== undefined)
          throw invalidArgument(["pause: must not be set together with start_switchover"]);
        const at = spec.start_switchover === undefined ? undefined : Date.parse(spec.start_switchover);
        if (Number.isNaN(at)) throw invalidArgument(["start_switchover: is no time"]);
        applyMigration(world, { pause: spec.pause !== undefined, ...(at !== undefined && { startSwitchover: at }) });
        return { status: 204 };
      }
      case "cancel":
        cancelMigration(world);
        return { status: 204 };
      default:
        throw new VapiError("NOT_FOUND", "operation.not_found", "There is no such operation on a migration.");
    }
  });
}
