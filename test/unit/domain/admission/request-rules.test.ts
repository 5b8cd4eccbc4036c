import { expect } from "chai";
import { imagesKnown } from "../../../../src/domain/admission/bundle-rules";
import {
  parallelUpgradeOnly,
  powerActionConsistent,
  resourcesUnique,
  resourceTypeSupported,
  scheduleAhead,
} from "../../../../src/domain/admission/cluster-rules";
import { toTimestamp } from "../../../../src/domain/timestamp";
import { admissionRequest, now, refusals } from "./admission-request";

const first = "resourceUpgradeSpecs[0]";
const second = "resourceUpgradeSpecs[1]";

describe("resourceTypeSupported", () => {
  it("admits clusters and no other type", () => {
    expect(refusals(resourceTypeSupported)).to.deep.equal([]);
    for (const resourceType of ["DOMAIN", "UNASSIGNED_HOST"] as const) {
      expect(refusals(resourceTypeSupported, { spec: { resourceType } })).to.deep.equal([
        "NOT_ALLOWED RESOURCE_TYPE_NOT_SUPPORTED resourceType",
      ]);
    }
  });
});

describe("parallelUpgradeOnly", () => {
  it("takes absent for parallel and refuses false", () => {
    expect(refusals(parallelUpgradeOnly)).to.deep.equal([]);
    expect(refusals(parallelUpgradeOnly, { spec: { parallelUpgrade: true } })).to.deep.equal([]);
    expect(refusals(parallelUpgradeOnly, { spec: { parallelUpgrade: false } })).to.deep.equal([
      "NOT_ALLOWED ONLY_PARALLEL_UPGRADES parallelUpgrade",
    ]);
  });
});

describe("resourcesUnique", () => {
  it("refuses every repetition, not the first mention", () => {
    const resources = ["a", "b", "a", "a", "B"].map((resourceId) => ({ resourceId }));
    expect(refusals(resourcesUnique, { resources })).to.deep.equal([
      "BAD_REQUEST RESOURCE_DUPLICATE resourceUpgradeSpecs[2].resourceId",
      "BAD_REQUEST RESOURCE_DUPLICATE resourceUpgradeSpecs[3].resourceId",
    ]);
  });
});

describe("imagesKnown", () => {
  it("admits requests for the bundle's own image", () => {
    expect(refusals(imagesKnown, { resources: [{ hostosUpgradeOptionsSpec: {} }] })).to.deep.equal([]);
  });

  it("admits personalities and ISOs of the inventory, and refuses others", () => {
    const installations = {
      personalities: [{ id: "p", name: "golden", version: "9.0.2" }],
      isos: [{ id: "i", name: "custom", version: "9.0.2" }],
    };
    const known = [{ personalitySpec: { personalityId: "p" } }, { customIsoSpec: { id: "i" } }];
    expect(refusals(imagesKnown, { resources: known, installations })).to.deep.equal([]);
    const resources = [
      { personalitySpec: { personalityId: "q" } },
      { customIsoSpec: { id: "j" }, personalitySpec: {} },
    ];
    expect(refusals(imagesKnown, { resources, installations })).to.deep.equal([
      `BAD_REQUEST IMAGE_UNKNOWN ${first}.personalitySpec.personalityId`,
      `BAD_REQUEST MISSING_FIELD ${second}.personalitySpec.personalityId`,
      `BAD_REQUEST IMAGE_UNKNOWN ${second}.customIsoSpec.id`,
    ]);
    const [refused] = imagesKnown(admissionRequest({ resources, installations }));
    expect(refused?.message).to.equal("Personality q is not in the inventory.");
  });

  it("wants all of a firmware package", () => {
    const installations = { personalities: [{ id: "p", name: "golden", version: "9.0.2" }] };
    const hardwareSupportSpecs = [
      { name: "hsm", packageSpec: { name: "fw", version: "1" } },
      { packageSpec: { name: "fw" } },
    ];
    const resources = [{ personalitySpec: { personalityId: "p", hardwareSupportSpecs } }];
    expect(refusals(imagesKnown, { resources, installations })).to.deep.equal([
      `BAD_REQUEST MISSING_FIELD ${first}.personalitySpec.hardwareSupportSpecs[1].name`,
      `BAD_REQUEST MISSING_FIELD ${first}.personalitySpec.hardwareSupportSpecs[1].packageSpec.version`,
    ]);
  });
});

describe("powerActionConsistent", () => {
  const withAction = (shutdownVms: boolean, preRemediationPowerAction: "POWER_OFF_VMS" | "SUSPEND_VMS") => ({
    resources: [{ shutdownVms, hostosUpgradeOptionsSpec: { preRemediationPowerAction } }],
  });

  it("admits shutdownVms alone, beside POWER_OFF_VMS, and false beside anything", () => {
    expect(refusals(powerActionConsistent, { resources: [{ shutdownVms: true }] })).to.deep.equal([]);
    expect(refusals(powerActionConsistent, withAction(true, "POWER_OFF_VMS"))).to.deep.equal([]);
    expect(refusals(powerActionConsistent, withAction(false, "SUSPEND_VMS"))).to.deep.equal([]);
  });

  it("refuses shutdownVms beside another power action", () => {
    expect(refusals(powerActionConsistent, withAction(true, "SUSPEND_VMS"))).to.deep.equal([
      `BAD_REQUEST POWER_ACTION_CONTRADICTION ${first}.shutdownVms`,
    ]);
  });
});

describe("scheduleAhead", () => {
  it("wants a time of whoever does not want to begin now", () => {
    const request = (changes: object) =>
      admissionRequest({
        spec: { ...admissionRequest().spec, resourceUpgradeSpecs: [{ resourceId: "c1", ...changes }] },
      });
    const [rejection] = scheduleAhead(request({ upgradeNow: false }));
    expect(rejection).to.include({ code: "SCHEDULE_MISSING", path: "resourceUpgradeSpecs[0].upgradeNow" });
    const scheduledTimestamp = toTimestamp(now + 60_000);
    expect(scheduleAhead(request({ upgradeNow: false, scheduledTimestamp }))).to.deep.equal([]);
    expect(scheduleAhead(request({}))).to.deep.equal([]);
  });

  const at = (milliseconds: number, upgradeNow?: boolean) => ({
    resources: [
      {},
      { scheduledTimestamp: toTimestamp(now + milliseconds), ...(upgradeNow !== undefined && { upgradeNow }) },
    ],
  });

  it("admits times ahead and a minute of clock skew", () => {
    for (const milliseconds of [365 * 86_400_000, 0, -60_000]) {
      expect(refusals(scheduleAhead, at(milliseconds)), String(milliseconds)).to.deep.equal([]);
    }
  });

  it("refuses times past", () => {
    for (const changes of [at(-60_001), at(-86_400_000, false)]) {
      expect(refusals(scheduleAhead, changes)).to.deep.equal([
        `BAD_REQUEST SCHEDULE_IN_THE_PAST ${second}.scheduledTimestamp`,
      ]);
    }
    expect(scheduleAhead(admissionRequest(at(-60_001)))[0]?.message).to.contain(toTimestamp(now - 60_001));
  });

  it("ignores a time that upgradeNow overrules", () => {
    expect(refusals(scheduleAhead, at(-86_400_000, true))).to.deep.equal([]);
  });
});
