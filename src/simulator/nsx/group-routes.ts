import type Router from "@koa/router";
import * as E from "fp-ts/Either";
import * as t from "io-ts";
import type { World } from "../state/world";
import { componentOf, groupOf, pageOf, type NsxCall, wantedGroups, withManager } from "./nsx-calls";
import { NsxError } from "./nsx-error";
import type { NsxGroup } from "./nsx-state";
import { isActiveComponent, recordNsx } from "./nsx-timeline";
import { groupView } from "./nsx-views";

/** What of a group can be changed; the rest of a body is what was read and is not looked at. */
const GroupBody = t.intersection([
  t.type({ _revision: t.number }),
  t.partial({
    type: t.string,
    parallel: t.boolean,
    enabled: t.boolean,
    pause_after_each_upgrade_unit: t.boolean,
    extended_configuration: t.array(t.type({ key: t.string, value: t.string })),
  }),
]);
type GroupBody = t.TypeOf<typeof GroupBody>;

const configurationValues: Readonly<Record<string, readonly string[]>> = {
  upgrade_mode: ["in_place", "maintenance_mode", "stage_in_vlcm"],
  rebootless_upgrade: ["true", "false"],
};

function checkRevision(world: World, group: NsxGroup, { _revision }: GroupBody): void {
  const fault = world.findFault(["NSX_REVISION_STALE"]);
  if (fault) {
    world.useFault(fault);
    group.revision += 1;
  }
  if (_revision === group.revision) return;
  throw new NsxError(
    412,
    604,
    `The object ${group.id} was changed: its revision is ${group.revision}, not ${_revision}.`,
  );
}

function checkChange({ manager }: NsxCall, group: NsxGroup, body: GroupBody): void {
  if (isActiveComponent(componentOf(manager, group.type))) {
    throw new NsxError(400, 30021, `Groups of ${group.type} cannot be changed while its upgrade runs.`);
  }
  if (body.type !== undefined && body.type !== group.type) {
    throw new NsxError(400, 255, "The type of a group cannot be changed.");
  }
  if (group.type !== "HOST" && body.parallel !== undefined && body.parallel !== group.parallel) {
    throw new NsxError(400, 30022, `parallel cannot be changed for groups of ${group.type}.`);
  }
  for (const { key, value } of body.extended_configuration ?? []) {
    if (group.type !== "HOST" || !configurationValues[key]?.includes(value)) {
      throw new NsxError(400, 255, `extended_configuration of ${group.type} takes no ${key} ${value}.`);
    }
  }
}

/** Groups of nodes, read and changed; a change needs the current revision. */
export function groupRoutes(router: Router, world: World): void {
  const calls = withManager(router, world);
  const isSummary = ({ query }: NsxCall) => query.get("summary") === "true";

  calls.get("/upgrade/upgrade-unit-groups", (call) => {
    const groups = wantedGroups(call).map((group) => groupView(group, isSummary(call)));
    return { status: 200, body: pageOf(call, groups) };
  });

  calls.get("/upgrade/upgrade-unit-groups/:group", (call) => ({
    status: 200,
    body: groupView(groupOf(call), isSummary(call)),
  }));

  calls.put("/upgrade/upgrade-unit-groups/:group", (call) => {
    const group = groupOf(call);
    const body = GroupBody.decode(call.body);
    if (E.isLeft(body)) throw new NsxError(400, 255, "The group is not one, or has no _revision.");
    checkRevision(world, group, body.right);
    checkChange(call, group, body.right);
    const { parallel, enabled, pause_after_each_upgrade_unit, extended_configuration } = body.right;
    Object.assign(group, {
      ...(parallel !== undefined && { parallel }),
      ...(enabled !== undefined && { enabled }),
      ...(pause_after_each_upgrade_unit !== undefined && { pauseAfterEachUnit: pause_after_each_upgrade_unit }),
      ...(extended_configuration && {
        extendedConfiguration: extended_configuration.map(({ key, value }) => ({ key, value })),
      }),
    });
    group.revision += 1;
    const { upgrade_units: _, ...view } = groupView(group);
    recordNsx(world, call.manager, { at: world.now(), step: "NSX_GROUP_SET", detail: JSON.stringify(view) });
    world.changed();
    return { status: 200, body: groupView(group) };
  });
}
