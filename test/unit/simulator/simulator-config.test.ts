import { expect } from "chai";
import * as E from "fp-ts/Either";
import { join } from "node:path";
import { decodeSimulatorConfig, readSimulatorConfig } from "../../../src/simulator/config/simulator-config";
import { createInventory } from "../../../src/simulator/state/inventory";
import { images, testConfig } from "./simulator-client";

const depot = [{ version: images[0] }];
const errorsOf = (config: object) => {
  const decoded = decodeSimulatorConfig(config);
  return E.isLeft(decoded) ? decoded.left : [];
};

describe("the simulator's configuration", () => {
  it("gives the documented inventory by default", () => {
    const config = readSimulatorConfig(join(__dirname, "../../../config/simulator.yaml"));
    if (E.isLeft(config)) throw new Error(config.left.join("\n"));
    const { clusters } = createInventory(config.right, 0);
    const ofManagement = (management: string) =>
      clusters.filter((c) => c.management === management).map(({ id }) => id);
    expect(ofManagement("IMAGE")).to.deep.equal(["domain-c8", "domain-c21", "domain-c34"]);
    expect(ofManagement("BASELINE")).to.deep.equal(["domain-c47"]);
    const hosts = clusters.flatMap((cluster) => cluster.hosts);
    expect(hosts[0]).to.include({ id: "host-11", name: "fra1-esx-01.prod.example.com", version: images[0] });
    expect(new Set(hosts.map(({ name }) => name)).size).to.equal(hosts.length);
    expect(config.right.depot.map(({ version }) => version)).to.deep.equal([...images]);
  });

  it("generates many clusters and hosts with ids and names of their own", () => {
    const { clusters } = createInventory(testConfig({ generate: { clusters: 100, hosts: 64 } }), 0);
    const hosts = clusters.flatMap((cluster) => cluster.hosts);
    expect(clusters).to.have.length(102);
    expect(hosts).to.have.length(2 + 3 + 100 * 64);
    expect(new Set(hosts.map(({ id }) => id)).size).to.equal(hosts.length);
    expect(new Set(hosts.map(({ name }) => name)).size).to.equal(hosts.length);
    expect(new Set(clusters.map(({ id }) => id)).size).to.equal(clusters.length);
  });

  it("names every wrong field by its path", () => {
    const clusters = [
      { name: "a", hosts: 0 },
      { name: "b", hosts: 3, managment: "IMAGE" },
    ];
    expect(errorsOf({ depot, hostVersion: images[0], clusters })).to.deep.equal([
      "clusters[0].hosts: must be a whole number from 1 to 128, not 0",
    ]);
    expect(errorsOf({ depot, hostVersion: images[0], clusters: clusters.slice(1) })).to.deep.equal([
      "clusters[0].managment: there is no such field",
    ]);
  });

  it("refuses contradictions", () => {
    const clusters = [
      { id: "domain-c8", name: "a", hosts: 1 },
      { id: "domain-c8", name: "a", hosts: 1, version: "8.0.3-0.1" },
    ];
    expect(errorsOf({ depot, hostVersion: "7.0.0-0.1", clusters })).to.deep.equal([
      "hostVersion: 7.0.0-0.1 is not in the depot",
      "clusters[1].version: 8.0.3-0.1 is not in the depot",
      "clusters[1].name: a is already taken",
      "clusters[1].id: domain-c8 is already taken",
    ]);
    expect(errorsOf({ depot, hostVersion: images[0] })).to.deep.equal(["clusters: name at least one, or use generate"]);
  });

  it("names the file that cannot be read", () => {
    const missing = readSimulatorConfig("no/such/simulator.yaml");
    expect(E.isLeft(missing) && missing.left[0]).to.match(/ENOENT.*no\/such\/simulator\.yaml/);
  });
});
