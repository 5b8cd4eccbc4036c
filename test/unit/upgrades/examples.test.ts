import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import * as E from "fp-ts/Either";
import * as TE from "fp-ts/TaskEither";
import { pipe } from "fp-ts/function";
import { taskExample, upgradeExample, upgradeSpecExample } from "../../../src/api/openapi/examples";
import { readCatalog } from "../../../src/catalog/file-catalog";
import { admitUpgrade } from "../../../src/domain/admission/admit-upgrade";
import { UpgradeSpec } from "../../../src/domain/spec/upgrade-spec";
import { fileInventory } from "../../../src/inventory/file-inventory";
import { readInventoryFile } from "../../../src/inventory/inventory-file";
import { readSimulatorConfig } from "../../../src/simulator/config/simulator-config";

const folder = "examples";
const example = (file: string): unknown => JSON.parse(readFileSync(join(folder, file), "utf8"));

function right<A>(either: E.Either<unknown, A>): A {
  if (E.isLeft(either)) throw new Error(JSON.stringify(either.left));
  return either.right;
}

/** What the shipped catalog, inventory and simulator make of an example. */
async function judged(request: unknown) {
  const spec = right(UpgradeSpec.decode(request));
  const simulated = new Map((right(readSimulatorConfig("config/simulator.yaml")).clusters ?? []).map((c) => [c.id, c]));
  const inventory = fileInventory(right(readInventoryFile("config/inventory.yaml", {})), {
    clusters: () => Promise.resolve(new Set([...simulated.keys()].filter((id) => id !== undefined))),
    isImageManaged: (_, id) => Promise.resolve(simulated.get(id)?.management !== "BASELINE"),
    netvirtGroups: () => Promise.resolve([]),
    countHosts: (_, id) => Promise.resolve(simulated.get(id)?.hosts ?? 0),
    hosts: () => Promise.resolve([]),
  });
  const facts = await pipe(
    TE.Do,
    TE.apS("bundle", right(readCatalog("config/bundles.yaml")).find(spec.bundleId)),
    TE.apS("clusters", inventory.readClusters(spec.resourceUpgradeSpecs.map(({ resourceId }) => resourceId))),
  )();
  const now = Date.parse("2026-11-01T00:00:00Z");
  return admitUpgrade({
    spec,
    now,
    installations: inventory.installations,
    lockHolders: new Map(),
    lockLeadMinutes: 60,
    ...right(facts),
  });
}

describe("examples", () => {
  const admitted = readdirSync(folder).filter((file) => file.endsWith(".json") && file !== "invalid.json");

  it("are there", () => expect(admitted).to.include("cluster-draft.json"));

  for (const file of admitted) {
    it(`${file} is admitted as it is`, async () => {
      const outcome = await judged(example(file));
      expect(E.isLeft(outcome) && outcome.left).to.equal(false);
    });
  }

  it("the request that /docs shows is admitted as it is, with the bundle and the names that it shows", async () => {
    const outcome = right(await judged(upgradeSpecExample));
    const { components: [component] = [], ...bundle } = upgradeExample.bundle ?? {};
    expect(outcome.bundle).to.deep.include(bundle);
    expect(outcome.bundle.components?.[0]).to.deep.include(component);
    const named = (taskExample.resources ?? []).map(({ resourceId, name }) => [resourceId, name]);
    expect(named).to.deep.equal(outcome.clusters.map(({ resourceId, name }) => [resourceId, name]));
  });

  it("invalid.json is refused for each of its faults", async () => {
    const outcome = await judged(example("invalid.json"));
    const rejections = E.isLeft(outcome) ? outcome.left : [];
    expect(rejections.map(({ effect, code, path }) => `${effect} ${code} ${path}`)).to.have.members([
      "NOT_ALLOWED ONLY_PARALLEL_UPGRADES parallelUpgrade",
      "BAD_REQUEST RESOURCE_UNKNOWN resourceUpgradeSpecs[0].resourceId",
      "BAD_REQUEST POWER_ACTION_CONTRADICTION resourceUpgradeSpecs[0].shutdownVms",
      "BAD_REQUEST SCHEDULE_IN_THE_PAST resourceUpgradeSpecs[0].scheduledTimestamp",
      "FAILED_DEPENDENCY BUNDLE_UNKNOWN bundleId",
    ]);
  });

  it("show-task.mjs shows every part of a Task that has begun, its status and its errors", () => {
    const [prechecks, products] = taskExample.subTasks ?? [];
    const task = {
      ...taskExample,
      status: "Failed",
      errors: [{ message: "It broke." }],
      subTasks: [{ ...prechecks, status: "SUCCESSFUL" }, products],
    };
    const shown = execFileSync(process.execPath, [join(folder, "show-task.mjs")], { input: JSON.stringify(task) });
    expect(shown.toString().split("\n").slice(0, 4)).to.deep.equal([
      `Failed ${taskExample.name}`,
      "  ! It broke.",
      `  SUCCESSFUL ${prechecks?.name}`,
      `    PENDING ${prechecks?.subTasks?.[0]?.name}`,
    ]);
    expect(shown.toString()).to.contain(`\n  PENDING ${products?.name}\n`);
  });
});
