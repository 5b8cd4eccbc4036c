import { expect } from "chai";
import * as E from "fp-ts/Either";
import { hostsInScope, scopedHostsWithoutNetvirt } from "../../../../src/domain/admission/scope-rules";
import type { HostsSpec } from "../../../../src/domain/spec/upgrade-spec";
import { sampleBundle } from "../../../support/sample-plan";
import { admissionRequest, refusals } from "./admission-request";

const path = "resourceUpgradeSpecs[0].hosts";
const members = [
  { id: "host-1", fqdn: "esx-01.example.com" },
  { id: "host-2", fqdn: "esx-02.example.com" },
];
const read = new Map([["c0", E.right(members)]]);
const asked = (hosts: HostsSpec) => refusals(hostsInScope, { resources: [{ hosts }], hosts: read });

describe("hostsInScope", () => {
  it("admits hosts by id, and by name in any case", () => {
    expect(asked({ include: ["host-1", "ESX-02.example.com"] })).to.deep.equal([]);
    expect(asked({ exclude: ["esx-01.example.com"] })).to.deep.equal([]);
    expect(refusals(hostsInScope, { resources: [{}] })).to.deep.equal([]);
  });

  it("refuses both lists and none", () => {
    for (const hosts of [{}, { include: ["host-1"], exclude: ["host-2"] }])
      expect(asked(hosts)).to.deep.equal([`BAD_REQUEST HOSTS_AMBIGUOUS ${path}`]);
  });

  it("refuses an unknown host at its own path, with the nearest known name", () => {
    const hosts = { include: ["host-1", "esx-0l.example.com"] };
    const [rejection] = hostsInScope(admissionRequest({ resources: [{ hosts }], hosts: read }));
    expect(rejection).to.include({ code: "HOST_UNKNOWN", path: `${path}.include[1]` });
    expect(rejection?.message).to.contain("the nearest known name is esx-01.example.com");
  });

  it("refuses a host that is named twice, also by two of its names", () => {
    expect(asked({ include: ["host-1", "esx-01.example.com"] })).to.deep.equal([
      `BAD_REQUEST RESOURCE_DUPLICATE ${path}.include[1]`,
    ]);
  });

  it("refuses what leaves no host", () => {
    expect(asked({ exclude: ["host-1", "host-2"] })).to.deep.equal([`BAD_REQUEST HOSTS_NONE_LEFT ${path}.exclude`]);
  });

  it("tells hosts that cannot be read from wrong ones", () => {
    const silence = E.left({ code: "COMPONENT_MANAGER_UNREACHABLE", reason: "refused" } as const);
    const changes = { resources: [{ hosts: { include: ["host-1"] } }], hosts: new Map([["c0", silence]]) };
    expect(refusals(hostsInScope, changes)).to.deep.equal([`FAILED_DEPENDENCY COMPONENT_MANAGER_UNREACHABLE ${path}`]);
  });
});

describe("scopedHostsWithoutNetvirt", () => {
  const bundle = { ...sampleBundle, components: [{ id: "n", type: "NETVIRT" as const, toVersion: "9.0.2" }] };
  const member = { resourceId: "c0", name: "c0-name", cluster: "domain-c0" };
  const installations = {
    netvirt: [
      {
        resourceId: "n1",
        name: "nsx",
        componentManagerId: "nsx1",
        domain: "fra1",
        clusters: ["c0"],
        members: [member],
      },
    ],
  };
  const changes = { bundle, installations, resources: [{ hosts: { include: ["host-1"] } }] };
  const with_ = (netvirtUpgradeUserInputSpecs: object[]) =>
    refusals(scopedHostsWithoutNetvirt, { ...changes, spec: { netvirtUpgradeUserInputSpecs } });

  it("refuses hosts of a cluster that NETVIRT would upgrade as a whole", () => {
    const refused = [`BAD_REQUEST HOSTS_NOT_FOR_NETVIRT ${path}`];
    expect(refusals(scopedHostsWithoutNetvirt, changes)).to.deep.equal(refused);
    expect(with_([{ netvirtHostClusterUpgradeSpecs: [{ hostClusterId: "domain-c0" }] }])).to.deep.equal(refused);
  });

  it("admits them where NETVIRT leaves the cluster out", () => {
    expect(with_([{ netvirtHostClusterUpgradeSpecs: [] }])).to.deep.equal([]);
    expect(with_([{ netvirtUpgradeOptions: { isEdgeOnlyUpgrade: true } }])).to.deep.equal([]);
    expect(refusals(scopedHostsWithoutNetvirt, { ...changes, bundle: sampleBundle })).to.deep.equal([]);
  });
});
