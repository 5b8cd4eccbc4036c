import type Router from "@koa/router";
import * as t from "io-ts";
import { model } from "../../domain/codec";
import type { World } from "../state/world";
import { decodeBody } from "../vlcm/decode-body";
import { invalidArgument, VapiError } from "../vlcm/vapi-error";
import { withSession, type VlcmCall } from "../vlcm/vlcm-calls";
import { applianceOf, offeredUpdates, takeFault } from "./appliance";
import { cancelUpdate, refuseWhileBusy, startInstall, startStage } from "./update-operations";
import { issuesOf, precheckResult, updateInfo, updateSummary, versionInfo } from "./update-view";
import type { ApplianceUpdate } from "./vcsa-config";

const Component = model({}, { component: t.string });
const UserData = model({ user_data: t.record(t.string, t.string) }, { component: t.string });

/** The appliance's version, and its update in place: what is offered, checked, staged and installed. */
export function updateRoutes(router: Router, world: World): void {
  const calls = withSession(router, world);

  /** The data items that an installation asks for now. */
  function questions({ use }: { use: boolean }): string[] {
    const asked = world.state.global.faults.filter(
      ({ kind, remaining }) => kind === "MGMT_QUESTION_ASKED" && remaining !== 0,
    );
    if (use) for (const fault of asked) world.useFault(fault);
    return asked.map(({ item }) => item ?? "vmdir.password");
  }

  function offered({ params }: VlcmCall): ApplianceUpdate {
    const version = params["version"] ?? "";
    if (version === applianceOf(world).version)
      throw new VapiError("ALREADY_IN_DESIRED_STATE", "update.installed", `The appliance runs ${version} already.`);
    const update = offeredUpdates(world).find((known) => known.version === version);
    if (!update) throw new VapiError("NOT_FOUND", "update.not_found", `There is no update ${version}.`);
    return update;
  }

  function checkAnswers(answers: Readonly<Record<string, string>>): string[] {
    return questions({ use: false })
      .filter((item) => !answers[item])
      .map((item) => `The answer to ${item} is missing.`);
  }

  calls.get("/appliance/system/version", () => ({ status: 200, body: versionInfo(world) }));
  calls.get("/appliance/update", () => ({ status: 200, body: updateInfo(world) }));

  calls.post("/appliance/update", ({ query }) => {
    if (query.get("action") !== "cancel")
      throw new VapiError("NOT_FOUND", "operation.not_found", "There is no such operation on the update.");
    cancelUpdate(world);
    return { status: 204 };
  });

  calls.get("/appliance/update/staged", () => {
    const { staged } = applianceOf(world);
    const update = offeredUpdates(world).find(({ version }) => version === staged?.version);
    if (!staged || !update)
      throw new VapiError("NOT_ALLOWED_IN_CURRENT_STATE", "update.not_staged", "No update is staged.");
    return { status: 200, body: { ...updateSummary(update), staging_complete: staged.complete } };
  });

  calls.get("/appliance/update/pending", ({ query }) => {
    // The vendor's own bindings do not put it into the query; where it is, it must be right.
    if (!["LAST_CHECK", "LOCAL", "LOCAL_AND_ONLINE"].includes(query.get("source_type") ?? "LAST_CHECK"))
      throw invalidArgument(["source_type: must be one of LAST_CHECK, LOCAL, LOCAL_AND_ONLINE"]);
    const updates = offeredUpdates(world);
    if (updates.length === 0) throw new VapiError("NOT_FOUND", "update.none", "There are no updates.");
    return { status: 200, body: updates.map(updateSummary) };
  });

  calls.post("/appliance/update/pending/:version", (call) => {
    const { version } = offered(call);
    switch (call.query.get("action")) {
      case "precheck": {
        decodeBody(Component, call.body ?? {});
        refuseWhileBusy(world);
        const failing = takeFault(world, ["MGMT_PRECHECK_FAILS"]);
        const issues = failing ? [failing.message ?? "The appliance has not enough free space for the update."] : [];
        const items = questions({ use: true });
        world.changed();
        return { status: 200, body: precheckResult(world, issues, items) };
      }
      case "validate":
        return { status: 200, body: issuesOf(checkAnswers(decodeBody(UserData, call.body).user_data)) };
      case "stage":
        decodeBody(Component, call.body ?? {});
        startStage(world, version);
        return { status: 204 };
      case "install": {
        const missing = checkAnswers(decodeBody(UserData, call.body).user_data);
        if (missing.length > 0) throw new VapiError("ERROR", "update.answers_missing", missing.join(" "));
        startInstall(world, version);
        return { status: 204 };
      }
      default:
        throw new VapiError("NOT_FOUND", "operation.not_found", "There is no such operation on an update.");
    }
  });
}
