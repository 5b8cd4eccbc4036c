import { expect } from "chai";
import * as E from "fp-ts/Either";
import { type ClusterLookup, defaultRolloutPolicy } from "../../../src/domain/plan/facts";
import { type ComponentManagerReads, fileInventory } from "../../../src/inventory/file-inventory";
import type { ClusterEntry } from "../../../src/inventory/inventory-file";
import type { MaintenanceCalendar } from "../../../src/inventory/maintenance-calendar";
import { noInstallations } from "../../support/sample-plan";

const entry = (resourceId: string, componentManagerId: string): [string, ClusterEntry] => [
  resourceId,
  {
    resourceId,
    name: `${resourceId}-name`,
    domain: "fra1",
    domainName: "Frankfurt 1",
    platformVersion: "5.2",
    rollout: defaultRolloutPolicy,
    managementServer: "vc",
    componentManagerId,
    cluster: `domain-${resourceId}`,
  },
];
const clusters = new Map([entry("a1", "vcA"), entry("a2", "vcA"), entry("b1", "vcB"), entry("gone", "vcA")]);
const away = () => Promise.reject(new Error("connection refused"));

const reads: ComponentManagerReads = {
  clusters: () => Promise.resolve(new Set(["domain-a1", "domain-a2", "domain-b1"])),
  isImageManaged: (_, cluster) => Promise.resolve(cluster !== "domain-a2"),
  countHosts: () => Promise.resolve(4),
  netvirtGroups: () => Promise.resolve([]),
  hosts: ({ cluster }) => Promise.resolve([{ id: "host-1", fqdn: `esx-1.${cluster}`, version: "9.0.0" }]),
};

async function lookUp(ids: readonly string[], changes: Partial<ComponentManagerReads> = {}, timeout?: number) {
  const inventory = fileInventory(
    { clusters, installations: noInstallations, calendar },
    { ...reads, ...changes },
    timeout,
  );
  const answer = await inventory.readClusters(ids)();
  if (E.isLeft(answer)) throw new Error("the inventory as a whole failed");
  return answer.right;
}

const tags = (answer: ReadonlyMap<string, ClusterLookup>) =>
  Object.fromEntries([...answer].map(([id, { _tag }]) => [id, _tag]));

const calendar: MaintenanceCalendar = { at: () => ({ isOpen: true }) };

describe("fileInventory", () => {
  it("completes the file by what the component manager says now", async () => {
    const answer = await lookUp(["a1", "a2"]);
    expect(answer.get("a1")).to.deep.equal({
      _tag: "Known",
      facts: {
        resourceId: "a1",
        name: "a1-name",
        domain: "fra1",
        domainName: "Frankfurt 1",
        platformVersion: "5.2",
        rollout: defaultRolloutPolicy,
        managementServer: "vc",
        componentManagerId: "vcA",
        cluster: "domain-a1",
        kind: "IMAGE",
        hostCount: 4,
      },
    });
    expect(answer.get("a2")).to.have.nested.property("facts.kind", "BASELINE");
  });

  it("answers every id once, also unknown ones and those that the component manager does not have", async () => {
    const answer = await lookUp(["a1", "nobody", "gone", "a1", "__proto__"]);
    expect([...answer].map(([id, { _tag }]) => [id, _tag])).to.have.deep.members([
      ["a1", "Known"],
      ["nobody", "Unknown"],
      ["gone", "Unknown"],
      ["__proto__", "Unknown"],
    ]);
  });

  it("asks each component manager for its clusters once, and none for unknown ids", async () => {
    const asked: string[] = [];
    const counting = (id: string) => {
      asked.push(id);
      return reads.clusters(id);
    };
    await lookUp(["a1", "a2", "b1", "nobody"], { clusters: counting });
    expect(asked).to.have.members(["vcA", "vcB"]);
    asked.length = 0;
    await lookUp(["nobody"], { clusters: counting });
    expect(asked).to.deep.equal([]);
  });

  it("loses only the clusters of a component manager that does not answer", async () => {
    const answer = await lookUp(["a1", "a2", "b1", "nobody"], {
      clusters: (id) => (id === "vcA" ? away() : reads.clusters(id)),
    });
    expect(tags(answer)).to.deep.equal({ a1: "Unread", a2: "Unread", b1: "Known", nobody: "Unknown" });
    expect(answer.get("a1")).to.deep.equal({
      _tag: "Unread",
      name: "a1-name",
      componentManagerId: "vcA",
      silence: { code: "COMPONENT_MANAGER_UNREACHABLE", reason: "connection refused" },
    });
  });

  it("says of one that refuses the service's user that it does", async () => {
    const refused = Object.assign(new Error("vcA answered 401."), { code: "AUTHENTICATION" });
    const answer = await lookUp(["a1"], { clusters: () => Promise.reject(refused) });
    expect(answer.get("a1")).to.deep.include({ silence: { code: "AUTHENTICATION", reason: "vcA answered 401" } });
  });

  it("loses only the cluster of which a read fails", async () => {
    const failing = (id: string, cluster: string) => (cluster === "domain-a1" ? away() : reads.countHosts(id, cluster));
    expect(tags(await lookUp(["a1", "a2"], { countHosts: failing }))).to.deep.equal({ a1: "Unread", a2: "Known" });
  });

  it("asks a component manager for all of it at the same time", async () => {
    const asked: string[] = [];
    const hanging = (what: string) => () => (asked.push(what), new Promise<never>(() => undefined));
    const slow = { clusters: hanging("clusters"), isImageManaged: hanging("kind"), countHosts: hanging("hosts") };
    await lookUp(["a1"], slow, 1);
    expect(asked).to.have.members(["clusters", "kind", "hosts"]);
  });

  it("does not know a cluster that its component manager does not list, whatever else fails", async () => {
    expect(tags(await lookUp(["gone"], { isImageManaged: away, countHosts: away }))).to.deep.equal({ gone: "Unknown" });
  });

  it("waits for all that a component manager is asked together, not for each of it", async () => {
    const never = () => new Promise<never>(() => undefined);
    for (const slow of [{ clusters: never }, { isImageManaged: never }, { countHosts: never }]) {
      const answer = await lookUp(["a1", "nobody"], slow, 20);
      expect(tags(answer)).to.deep.equal({ a1: "Unread", nobody: "Unknown" });
      expect(answer.get("a1")).to.have.nested.property("silence.reason", "it did not answer within 0.02 seconds");
    }
  });

  it("knows its clusters in the order of the file, and reads the hosts of one", async () => {
    const inventory = fileInventory({ clusters, installations: noInstallations, calendar }, reads);
    expect(inventory.clusters.map(({ resourceId }) => resourceId)).to.deep.equal(["a1", "a2", "b1", "gone"]);
    const facts = (await lookUp(["b1"])).get("b1");
    if (facts?._tag !== "Known") throw new Error("b1 is known");
    expect(await inventory.readHosts(facts.facts)()).to.deep.equal(
      E.right([{ id: "host-1", fqdn: "esx-1.domain-b1", version: "9.0.0" }]),
    );
  });

  it("says why hosts cannot be read, and waits for them no longer than for anything else", async () => {
    const facts = (await lookUp(["a1"])).get("a1");
    if (facts?._tag !== "Known") throw new Error("a1 is known");
    const readHosts = (hosts: ComponentManagerReads["hosts"]) =>
      fileInventory({ clusters, installations: noInstallations, calendar }, { ...reads, hosts }, 20).readHosts(
        facts.facts,
      )();
    expect(await readHosts(() => Promise.reject(new Error("vcA: no session.")))).to.deep.equal(
      E.left({ code: "COMPONENT_MANAGER_UNREACHABLE", reason: "vcA: no session" }),
    );
    expect(await readHosts(() => new Promise(() => undefined))).to.deep.equal(
      E.left({ code: "COMPONENT_MANAGER_UNREACHABLE", reason: "it did not answer within 0.02 seconds" }),
    );
  });

  it("gives the reason without its full stop, since it becomes part of a sentence", async () => {
    const answer = await lookUp(["a1"], { clusters: () => Promise.reject(new Error("vcA: could not log in.")) });
    expect(answer.get("a1")).to.have.nested.property("silence.reason", "vcA: could not log in");
  });

  it("leaves no rejection unhandled, whichever reads fail and how", async () => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown) => unhandled.push(reason);
    process.on("unhandledRejection", note);
    try {
      const thrown = () => {
        throw new Error("no such component manager");
      };
      await lookUp(["a1", "a2", "b1"], { clusters: away });
      await lookUp(["a1", "a2"], { isImageManaged: away, countHosts: away });
      await lookUp(["a1"], { isImageManaged: thrown, countHosts: away });
      // Node tells of unhandled rejections when the microtasks of a turn are done.
      await new Promise((resolve) => setImmediate(resolve));
      expect(unhandled).to.deep.equal([]);
    } finally {
      process.off("unhandledRejection", note);
    }
  });
});
