import { expect } from "chai";
import {
  bundleAvailable,
  inputsFitBundle,
  productsPresent,
  targetVersionOffered,
} from "../../../../src/domain/admission/bundle-rules";
import type { HostosUpgradeOptionsSpec } from "../../../../src/domain/spec/upgrade-spec";
import { sampleBundle } from "../../../support/sample-plan";
import { admissionRequest, refusals } from "./admission-request";

const withProducts = (...types: string[]) => ({ ...sampleBundle, components: types.map((type) => ({ type })) });

describe("bundleAvailable", () => {
  it("admits a downloaded bundle and refuses every other one as a missing dependency", () => {
    expect(refusals(bundleAvailable)).to.deep.equal([]);
    expect(refusals(bundleAvailable, { bundle: null })).to.deep.equal(["FAILED_DEPENDENCY BUNDLE_UNKNOWN bundleId"]);
    for (const downloadStatus of ["PENDING", "SCHEDULED", "IN_PROGRESS", "FAILED"] as const) {
      expect(refusals(bundleAvailable, { bundle: { ...sampleBundle, downloadStatus } })).to.deep.equal([
        "FAILED_DEPENDENCY BUNDLE_NOT_DOWNLOADED bundleId",
      ]);
    }
    expect(refusals(bundleAvailable, { bundle: { ...sampleBundle, downloadStatus: "RECALLED" } })).to.deep.equal([
      "FAILED_DEPENDENCY BUNDLE_RECALLED bundleId",
    ]);
  });

  it("takes a bundle without a download status for not downloaded", () => {
    const { downloadStatus: _unsaid, ...bundle } = sampleBundle;
    expect(refusals(bundleAvailable, { bundle })).to.deep.equal(["FAILED_DEPENDENCY BUNDLE_NOT_DOWNLOADED bundleId"]);
  });
});

describe("inputsFitBundle", () => {
  it("admits any product, and components that are none beside it", () => {
    expect(refusals(inputsFitBundle)).to.deep.equal([]);
    expect(refusals(inputsFitBundle, { bundle: withProducts("MGMT", "FIRMWARE") })).to.deep.equal([]);
    expect(refusals(inputsFitBundle, { spec: { netvirtUpgradeUserInputSpecs: [] } })).to.deep.equal([]);
  });

  it("refuses a bundle in which there is nothing to upgrade", () => {
    for (const bundle of [withProducts(), withProducts("FIRMWARE")]) {
      expect(refusals(inputsFitBundle, { bundle })).to.deep.equal(["NOT_ALLOWED PRODUCT_NOT_SUPPORTED bundleId"]);
    }
  });

  it("refuses inputs for products that the bundle does not hold", () => {
    const spec = { netvirtUpgradeUserInputSpecs: [{}], mgmtUpgradeUserInputSpecs: [{}] };
    expect(refusals(inputsFitBundle, { spec })).to.deep.equal([
      "BAD_REQUEST INPUT_NOT_FOR_BUNDLE netvirtUpgradeUserInputSpecs",
      "BAD_REQUEST INPUT_NOT_FOR_BUNDLE mgmtUpgradeUserInputSpecs",
    ]);
    const servers = withProducts("NETVIRT", "MGMT");
    expect(refusals(inputsFitBundle, { spec, bundle: servers })).to.deep.equal([]);
    const resources = [{ enableQuickboot: false }, { enableQuickboot: true, customIsoSpec: { id: "i" } }];
    expect(refusals(inputsFitBundle, { bundle: servers, resources })).to.deep.equal([
      "BAD_REQUEST INPUT_NOT_FOR_BUNDLE resourceUpgradeSpecs[1].customIsoSpec",
      "BAD_REQUEST INPUT_NOT_FOR_BUNDLE resourceUpgradeSpecs[1].enableQuickboot",
    ]);
  });

  it("takes the failure action with every bundle, and no other option of hosts", () => {
    const hostosUpgradeFailureAction = { action: "RETRY", retryCount: 2, retryDelay: 1 } as const;
    const bundle = withProducts("NETVIRT", "MGMT");
    const given = (options: HostosUpgradeOptionsSpec) =>
      refusals(inputsFitBundle, { bundle, resources: [{ hostosUpgradeOptionsSpec: options }] });
    expect(given({ hostosUpgradeFailureAction, disableDpm: false })).to.deep.equal([]);
    expect(
      given({ hostosUpgradeFailureAction, disableDpm: true, preRemediationPowerAction: "SUSPEND_VMS" }),
    ).to.have.members([
      "BAD_REQUEST INPUT_NOT_FOR_BUNDLE resourceUpgradeSpecs[0].hostosUpgradeOptionsSpec.disableDpm",
      "BAD_REQUEST INPUT_NOT_FOR_BUNDLE resourceUpgradeSpecs[0].hostosUpgradeOptionsSpec.preRemediationPowerAction",
    ]);
  });

  it("says nothing where the bundle is not known", () => {
    expect(refusals(inputsFitBundle, { bundle: null, spec: { mgmtUpgradeUserInputSpecs: [{}] } })).to.deep.equal([]);
  });
});

describe("productsPresent", () => {
  const netvirt = [{ resourceId: "n1", name: "n1", componentManagerId: "n1", domain: "fra1", clusters: [] }];
  const management = [
    { resourceId: "m1", name: "m1", componentManagerId: "vc01", clusters: ["c0"], places: [{ domain: "fra1" }] },
  ];
  const elsewhere = { netvirt: [{ ...netvirt[0]!, domain: "ams1" }], management: [] };

  it("refuses a bundle of servers that none of the clusters has, and names them", () => {
    const bundle = withProducts("MGMT", "NETVIRT");
    expect(refusals(productsPresent, { bundle, installations: elsewhere })).to.deep.equal([
      "NOT_ALLOWED PRODUCT_NOT_SUPPORTED bundleId",
    ]);
    const [rejection] = productsPresent(admissionRequest({ bundle, installations: elsewhere }));
    expect(rejection?.message).to.contain("NETVIRT and MGMT");
  });

  it("admits one of which a cluster has something, and one with HOSTOS", () => {
    for (const installations of [{ netvirt }, { management }])
      expect(refusals(productsPresent, { bundle: withProducts("MGMT", "NETVIRT"), installations })).to.deep.equal([]);
    expect(refusals(productsPresent, { bundle: withProducts("NETVIRT", "HOSTOS") })).to.deep.equal([]);
  });

  it("says nothing where a cluster or the bundle is not known, or the bundle holds nothing", () => {
    const lookups = { c0: { _tag: "Unknown" } } as const;
    expect(refusals(productsPresent, { bundle: withProducts("MGMT"), lookups })).to.deep.equal([]);
    for (const bundle of [null, withProducts()]) expect(refusals(productsPresent, { bundle })).to.deep.equal([]);
  });
});

describe("targetVersionOffered", () => {
  it("admits the versions of the bundle and of its HOSTOS", () => {
    const resources = [{}, { toVersion: "9.0.2" }, { toVersion: "9.0.2-0.25148076" }];
    expect(refusals(targetVersionOffered, { resources })).to.deep.equal([]);
  });

  it("refuses another version and says what there is", () => {
    const changes = { resources: [{}, { toVersion: "9.0.1" }, { toVersion: "" }] };
    expect(refusals(targetVersionOffered, changes)).to.deep.equal([
      "BAD_REQUEST VERSION_NOT_OFFERED resourceUpgradeSpecs[1].toVersion",
      "BAD_REQUEST VERSION_NOT_OFFERED resourceUpgradeSpecs[2].toVersion",
    ]);
    expect(targetVersionOffered(admissionRequest(changes))[0]?.message).to.contain("9.0.2-0.25148076 and 9.0.2");
  });

  it("refuses a version beside an image that brings another one", () => {
    const installations = {
      personalities: [
        { id: "same", name: "golden", version: "9.0.2-0.25148076" },
        { id: "other", name: "older", version: "9.0.1-0.24957456" },
      ],
      isos: [{ id: "other", name: "older ISO", version: "9.0.1-0.24957456" }],
    };
    const of = (resource: object) => refusals(targetVersionOffered, { installations, resources: [resource] });
    for (const toVersion of ["9.0.2", "9.0.2-0.25148076"]) {
      expect(of({ toVersion, personalitySpec: { personalityId: "same" } })).to.deep.equal([]);
      for (const image of [{ personalitySpec: { personalityId: "other" } }, { customIsoSpec: { id: "other" } }])
        expect(of({ toVersion, ...image })).to.deep.equal([
          "BAD_REQUEST VERSION_CONTRADICTION resourceUpgradeSpecs[0].toVersion",
        ]);
    }
    expect(of({ personalitySpec: { personalityId: "other" } })).to.deep.equal([]);
  });

  it("says nothing where the bundle is not known", () => {
    expect(refusals(targetVersionOffered, { bundle: null, resources: [{ toVersion: "1" }] })).to.deep.equal([]);
  });
});
