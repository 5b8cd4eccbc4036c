import { expect } from "chai";
import * as E from "fp-ts/Either";
import { admitUpgrade } from "../../../../src/domain/admission/admit-upgrade";
import { noInstallations, sampleBundle, sampleCluster } from "../../../support/sample-plan";
import { admissionRequest, type RequestChanges } from "./admission-request";

function codes(changes: RequestChanges): string[] {
  const admitted = admitUpgrade(admissionRequest(changes));
  return E.isLeft(admitted) ? admitted.left.map(({ code }) => code) : [];
}

describe("admitUpgrade", () => {
  it("gives what was admitted with its facts, in the order of the request", () => {
    const request = admissionRequest({ resources: [{ resourceId: "z" }, { resourceId: "a" }] });
    expect(admitUpgrade(request)).to.deep.equal(
      E.right({
        spec: request.spec,
        bundle: sampleBundle,
        clusters: [sampleCluster("z"), sampleCluster("a")],
        installations: noInstallations,
      }),
    );
  });

  it("runs every rule and gives all rejections together", () => {
    const found = codes({
      spec: { parallelUpgrade: false, mgmtUpgradeUserInputSpecs: [{}] },
      resources: [
        { toVersion: "1", shutdownVms: true, hostosUpgradeOptionsSpec: { preRemediationPowerAction: "SUSPEND_VMS" } },
        { resourceId: "c0", customIsoSpec: { id: "i" }, scheduledTimestamp: "2020-01-01T00:00:00.000Z" },
        { resourceId: "gone", personalitySpec: { personalityId: "p" } },
        { resourceId: "away" },
      ],
      cluster: { kind: "BASELINE", hostCount: 200, platformVersion: "3.4" },
      lookups: {
        gone: { _tag: "Unknown" },
        away: {
          _tag: "Unread",
          name: "fra1-prod",
          componentManagerId: "vc01",
          silence: { code: "COMPONENT_MANAGER_UNREACHABLE", reason: "timeout" },
        },
      },
      bundle: { ...sampleBundle, downloadStatus: "RECALLED" },
      lockHolders: { "cluster/away": "other" },
    });
    expect(new Set(found)).to.deep.equal(
      new Set([
        "ONLY_PARALLEL_UPGRADES",
        "RESOURCE_DUPLICATE",
        "RESOURCE_UNKNOWN",
        "COMPONENT_MANAGER_UNREACHABLE",
        "IMAGE_UNKNOWN",
        "POWER_ACTION_CONTRADICTION",
        "SCHEDULE_IN_THE_PAST",
        "VERSION_NOT_OFFERED",
        "PLATFORM_TOO_OLD",
        "CLUSTER_TOO_LARGE",
        "RESOURCE_LOCKED",
        "SERVER_UNKNOWN",
        "INPUT_NOT_FOR_BUNDLE",
        "BUNDLE_RECALLED",
      ]),
    );
  });

  it("tells of every rejection what is wrong and what to do", () => {
    const refused = admitUpgrade(admissionRequest({ spec: { resourceType: "DOMAIN" }, bundle: null }));
    const rejections = E.isLeft(refused) ? refused.left : [];
    expect(rejections.map(({ code }) => code)).to.deep.equal(["RESOURCE_TYPE_NOT_SUPPORTED", "BUNDLE_UNKNOWN"]);
    for (const { message, remediation } of rejections) {
      expect(message).to.match(/\.$/);
      expect(remediation).to.match(/\.$/);
    }
  });
});
