import { expect } from "chai";
import { curlOf, emptyForm, requestOf, type UpgradeForm } from "../../../src/console/model/upgrade-form";
import type { Cluster } from "../../../src/domain/cluster";

const cluster = (id: string, kind: "IMAGE" | "BASELINE"): Cluster => ({
  id,
  name: id,
  domain: { id: "d", name: "d" },
  platformVersion: "9.0",
  componentManagerId: "cm",
  kind,
});
const clusters = [cluster("image", "IMAGE"), cluster("baseline", "BASELINE")];
const filled: UpgradeForm = { ...emptyForm, bundleId: "b", clusterIds: ["image", "baseline"] };
const request = (form: UpgradeForm) => {
  const made = requestOf(form, clusters);
  if (made._tag === "Left") throw new Error(made.left);
  return made.right;
};

describe("the console's form of a new upgrade", () => {
  it("asks for nothing that was not filled in", () => {
    expect(request(filled)).to.deep.equal({
      bundleId: "b",
      resourceType: "CLUSTER",
      draftMode: true,
      resourceUpgradeSpecs: [
        { resourceId: "image", upgradeNow: true },
        { resourceId: "baseline", upgradeNow: true },
      ],
    });
  });

  it("gives each cluster the options of its kind only", () => {
    const { resourceUpgradeSpecs } = request({
      ...filled,
      switches: new Set(["enforceHclValidation", "disableHac"]),
      retries: { count: 2, delay: 10 },
    });
    const hostosUpgradeFailureAction = { action: "RETRY", retryCount: 2, retryDelay: 10 };
    expect(resourceUpgradeSpecs.map((spec) => spec.hostosUpgradeOptionsSpec)).to.deep.equal([
      { enforceHclValidation: true, disableHac: true, hostosUpgradeFailureAction },
      { disableHac: true, hostosUpgradeFailureAction },
    ]);
  });

  it("makes local times those of any place", () => {
    const local = "2026-12-01T09:30";
    const [first] = request({ ...filled, scheduledTimestamp: local }).resourceUpgradeSpecs;
    expect(first).to.deep.equal({ resourceId: "image", scheduledTimestamp: new Date(local).toISOString() });
  });

  it("says what is missing or out of bounds", () => {
    for (const [form, text] of [
      [{ bundleId: "" }, "bundle"],
      [{ clusterIds: [] }, "cluster"],
      [{ retries: { count: 101, delay: 0 } }, "Retries"],
      [{ retries: { count: NaN, delay: 0 } }, "Retries"],
    ] as const) {
      const made = requestOf({ ...filled, ...form }, clusters);
      expect(made._tag === "Left" && made.left).to.contain(text);
    }
  });

  it("quotes the request for a shell", () => {
    const command = curlOf("http://localhost:8080", request({ ...filled, bundleId: "it's" }));
    expect(command).to.contain("it'\\''s").and.contain("http://localhost:8080/v1/upgrades");
  });
});
