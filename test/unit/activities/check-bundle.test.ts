import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { checkBundle } from "../../../activities/create-activities";
import { readBundleNow } from "../../../src/commands/operator-files";
import type { Config } from "../../../src/config";
import { runActivity } from "./simulated-cluster";

describe("checkBundle", () => {
  const folder = mkdtempSync(join(tmpdir(), "catalog-"));
  const catalogFile = join(folder, "bundles.yaml");
  after(() => rmSync(folder, { recursive: true }));

  const check = () =>
    runActivity(() =>
      checkBundle((id) => readBundleNow({ catalogFile } as Config, id), { bundleId: "b-1", upgradeId: "u-1" }),
    );

  it("reads the catalog anew each time", async () => {
    writeFileSync(catalogFile, "- id: b-1\n  downloadStatus: SUCCESSFUL\n");
    expect((await check()).result).to.deep.equal({});
    writeFileSync(catalogFile, "- id: b-1\n  downloadStatus: RECALLED\n");
    expect((await check()).result?.error?.errorCode).to.equal("BUNDLE_RECALLED");
    writeFileSync(catalogFile, "- id: b-1\n  downloadStatus: FAILED\n");
    expect((await check()).result?.error?.errorCode).to.equal("BUNDLE_NOT_DOWNLOADED");
  });

  it("takes a bundle that has left the catalog", async () => {
    writeFileSync(catalogFile, "[]\n");
    expect((await check()).result).to.deep.equal({});
  });

  it("fails, so that it is tried again, where the file is no catalog", async () => {
    writeFileSync(catalogFile, "no: list\n");
    expect((await check()).error).to.not.equal(undefined);
  });
});
