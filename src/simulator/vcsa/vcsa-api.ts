import type Router from "@koa/router";
import * as t from "io-ts";
import type { Context, Next } from "koa";
import { Identifier, ListOf, model, OneOf } from "../../domain/codec";
import { send } from "../http/answering";
import type { SimulatorContext } from "../state/context";
import { invalidArgument, pathNotFound, VapiError } from "../vlcm/vapi-error";
import { decodeBody, vapiRouter } from "../vlcm/vapi-router";
import { type VlcmCall, withCredentials, withSession, withUserOfSession } from "../vlcm/vlcm-calls";
import { applianceOf, offeredUpdates, takeFault } from "./appliance";
import { conditionRoutes } from "./condition";
import {
  applyMigration,
  cancelMigration,
  findCheckTask,
  initMigration,
  migrationSpec,
  migrationStatus,
  type MigrationWish,
  startCheck,
} from "./migration";
import {
  cancelUpdate,
  issuesOf,
  precheckResult,
  refuseWhileBusy,
  startInstall,
  startStage,
  updateInfo,
  updateSummary,
  versionInfo,
} from "./update";
import type { ApplianceUpdate } from "./vcsa-state";

/** The management server's own update and migration, under `/api` beside the lifecycle manager's calls. */
export function vcsaApi(context: SimulatorContext): Router {
  const router = vapiRouter(context);
  router.use(refuseOnOldSource(context));
  updateRoutes(router, context);
  conditionRoutes(router, context);
  migrationRoutes(withUserOfSession(router, context), context);
  return router;
}

/** The endpoint of the upgrade service itself, for the migration: there on sources of every version, and in the switchover. */
export function upgradeServiceApi(context: SimulatorContext): Router {
  const router = vapiRouter(context, "/lcm/api");
  const calls = withCredentials(router, context);
  migrationRoutes(calls, context);
  calls.get("/cis/tasks/:task", ({ params }) => {
    const check = findCheckTask(context, params["task"]);
    if (!check) throw new VapiError("NOT_FOUND", "task.not_found", `There is no task ${params["task"]}.`);
    return { status: 200, body: check };
  });
  return router;
}

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
function refuseOnOldSource(context: SimulatorContext) {
  return async (ctx: Context, next: Next): Promise<void> => {
    if (ctx.path.includes(path) && Number.parseInt(applianceOf(context).version) < 9) send(ctx, pathNotFound.answer);
    else await next();
  };
}

/** The migration to a new appliance, with reduced downtime: set, checked, applied, cancelled, and how it goes on. */
function migrationRoutes(calls: ReturnType<typeof withCredentials>, context: SimulatorContext): void {
  calls.get(`${path}/status`, () => ({ status: 200, body: migrationStatus(context) }));

  calls.get(path, () => {
    const { migration } = applianceOf(context);
    if (!migration) throw new VapiError("NOT_FOUND", "migration.none", "There is no migration.");
    return { status: 200, body: migrationSpec(migration) };
  });

  calls.put(path, ({ body }) => {
    initMigration(context, wishOf(body));
    return { status: 204 };
  });

  calls.post(path, ({ query, body, user }) => {
    switch (query.get("action")) {
      case "check":
        return { status: 202, body: startCheck(context, wishOf(body), user).id };
      case "apply": {
        const spec = decodeBody(ApplySpec, body ?? {});
        if (spec.pause !== undefined && spec.start_switchover !== undefined)
          throw invalidArgument(["pause: must not be set together with start_switchover"]);
        const at = spec.start_switchover === undefined ? undefined : Date.parse(spec.start_switchover);
        if (Number.isNaN(at)) throw invalidArgument(["start_switchover: is no time"]);
        applyMigration(context, { pause: spec.pause !== undefined, ...(at !== undefined && { startSwitchover: at }) });
        return { status: 204 };
      }
      case "cancel":
        cancelMigration(context);
        return { status: 204 };
      default:
        throw new VapiError("NOT_FOUND", "operation.not_found", "There is no such operation on a migration.");
    }
  });
}

const Component = model({}, { component: t.string });
const UserData = model({ user_data: t.record(t.string, t.string) }, { component: t.string });

/** The appliance's version, and its update in place: what is offered, checked, staged and installed. */
function updateRoutes(router: Router, context: SimulatorContext): void {
  const calls = withSession(router, context);

  /** The data items that an installation asks for now. */
  function questions({ use }: { use: boolean }): string[] {
    const asked = context.state.global.faults.filter(
      ({ kind, remaining }) => kind === "MGMT_QUESTION_ASKED" && remaining !== 0,
    );
    if (use) for (const fault of asked) context.useFault(fault);
    return asked.map(({ item }) => item ?? "vmdir.password");
  }

  function offered({ params }: VlcmCall): ApplianceUpdate {
    const version = params["version"] ?? "";
    if (version === applianceOf(context).version)
      throw new VapiError("ALREADY_IN_DESIRED_STATE", "update.installed", `The appliance runs ${version} already.`);
    const update = offeredUpdates(context).find((known) => known.version === version);
    if (!update) throw new VapiError("NOT_FOUND", "update.not_found", `There is no update ${version}.`);
    return update;
  }

  function checkAnswers(answers: Readonly<Record<string, string>>): string[] {
    return questions({ use: false })
      .filter((item) => !answers[item])
      .map((item) => `The answer to ${item} is missing.`);
  }

  calls.get("/appliance/system/version", () => ({ status: 200, body: versionInfo(context) }));
  calls.get("/appliance/update", () => ({ status: 200, body: updateInfo(context) }));

  calls.post("/appliance/update", ({ query }) => {
    if (query.get("action") !== "cancel")
      throw new VapiError("NOT_FOUND", "operation.not_found", "There is no such operation on the update.");
    cancelUpdate(context);
    return { status: 204 };
  });

  calls.get("/appliance/update/staged", () => {
    const { staged } = applianceOf(context);
    const update = offeredUpdates(context).find(({ version }) => version === staged?.version);
    if (!staged || !update)
      throw new VapiError("NOT_ALLOWED_IN_CURRENT_STATE", "update.not_staged", "No update is staged.");
    return { status: 200, body: { ...updateSummary(update), staging_complete: staged.complete } };
  });

  calls.get("/appliance/update/pending", ({ query }) => {
    // The vendor's own bindings do not put it into the query; where it is, it must be right.
    if (!["LAST_CHECK", "LOCAL", "LOCAL_AND_ONLINE"].includes(query.get("source_type") ?? "LAST_CHECK"))
      throw invalidArgument(["source_type: must be one of LAST_CHECK, LOCAL, LOCAL_AND_ONLINE"]);
    const updates = offeredUpdates(context);
    if (updates.length === 0) throw new VapiError("NOT_FOUND", "update.none", "There are no updates.");
    return { status: 200, body: updates.map(updateSummary) };
  });

  calls.post("/appliance/update/pending/:version", (call) => {
    const { version } = offered(call);
    switch (call.query.get("action")) {
      case "precheck": {
        decodeBody(Component, call.body ?? {});
        refuseWhileBusy(context);
        const failing = takeFault(context, ["MGMT_PRECHECK_FAILS"]);
        const found = failing ? [failing.message ?? "The appliance has not enough free space for the update."] : [];
        const [issues, warnings] = failing?.warning === true ? [[], found] : [found, []];
        const items = questions({ use: true });
        context.changed();
        return { status: 200, body: precheckResult(context, { issues, items, warnings }) };
      }
      case "validate":
        return { status: 200, body: issuesOf(checkAnswers(decodeBody(UserData, call.body).user_data)) };
      case "stage":
        decodeBody(Component, call.body ?? {});
        startStage(context, version);
        return { status: 204 };
      case "install": {
        const missing = checkAnswers(decodeBody(UserData, call.body).user_data);
        if (missing.length > 0) throw new VapiError("ERROR", "update.answers_missing", missing.join(" "));
        startInstall(context, version);
        return { status: 204 };
      }
      default:
        throw new VapiError("NOT_FOUND", "operation.not_found", "There is no such operation on an update.");
    }
  });
}
