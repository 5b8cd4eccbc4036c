import { mock } from "node:test";
import { expect } from "chai";
import { coalescedReads } from "../../../src/commands/component-manager-reads";
import type { ComponentManagerReads } from "../../../src/inventory/file-inventory";
import { ManualTimers } from "../../support/manual-timers";

describe("reads of component managers that many ask for", () => {
  /** Reads that are answered when they are told to be, and what was asked. */
  function held() {
    const asked: string[] = [];
    const answers: (() => void)[] = [];
    const hold = <A>(what: string, answer: A) => {
      asked.push(what);
      return new Promise<A>((resolve) => answers.push(() => resolve(answer)));
    };
    const reads: ComponentManagerReads = {
      clusters: (id) => hold(`clusters of ${id}`, new Set([id])),
      isImageManaged: (id, cluster) => hold(`kind of ${id} ${cluster}`, true),
      countHosts: (id, cluster) => hold(`hosts of ${id} ${cluster}`, 4),
      hosts: () => hold("members", []),
      netvirtGroups: (id) => hold(`groups of ${id}`, []),
    };
    const timers = new ManualTimers();
    return {
      asked,
      timers,
      reads: coalescedReads(reads, timers),
      answer: () => answers.splice(0).forEach((one) => one()),
    };
  }

  it("are asked once while the answer is on its way and for half a second after it, and then anew", async () => {
    const { asked, timers, reads, answer } = held();
    const both = [reads.countHosts("vc", "c1"), reads.countHosts("vc", "c1")];
    answer();
    expect(await Promise.all(both)).to.deep.equal([4, 4]);
    await timers.pass(499);
    expect(await reads.countHosts("vc", "c1")).to.equal(4);
    expect(asked).to.have.length(1);
    await timers.pass(1);
    const again = reads.countHosts("vc", "c1");
    answer();
    await again;
    expect(asked).to.deep.equal(["hosts of vc c1", "hosts of vc c1"]);
  });

  it("are told apart by manager, cluster and question", () => {
    const { asked, reads } = held();
    void reads.clusters("vc");
    void reads.clusters("other");
    for (const [manager, cluster] of [
      ["vc", "c1"],
      ["vc", "c2"],
      ["other", "c1"],
    ] as const) {
      void reads.isImageManaged(manager, cluster);
      void reads.countHosts(manager, cluster);
    }
    expect(new Set(asked).size).to.equal(8);
  });

  it("are not asked again for a while of a manager that has refused the login, and of no other one", async () => {
    const asked: string[] = [];
    const { reads: others, timers } = held();
    let now = 0;
    const clusters = (id: string) => {
      asked.push(id);
      const refused = Object.assign(new Error("vc answered 401"), { code: "AUTHENTICATION" });
      return id === "vc" ? Promise.reject(refused) : Promise.resolve(new Set<string>());
    };
    const reads = coalescedReads({ ...others, clusters }, timers, () => now);
    const codes = async () => {
      const outcomes = await Promise.allSettled([reads.clusters("vc"), reads.countHosts("vc", "c1")]);
      return outcomes.map((one) => one.status === "rejected" && (one.reason as { code: string }).code);
    };
    await reads.clusters("vc").catch(() => undefined);
    expect(await codes()).to.deep.equal(["AUTHENTICATION", "AUTHENTICATION"]);
    await reads.clusters("other");
    expect(asked).to.deep.equal(["vc", "other"]);
    now += 15_000;
    await reads.clusters("vc").catch(() => undefined);
    expect(asked).to.deep.equal(["vc", "other", "vc"]);
    now += 44_999;
    await reads.clusters("vc").catch(() => undefined);
    expect(asked, "after the second refusal it is left alone for longer").to.have.length(3);
    now += 1;
    await reads.clusters("vc").catch(() => undefined);
    expect(asked).to.have.length(4);
  });

  it("are asked again after that while also where the time of day was set back", async () => {
    const { reads: others, timers } = held();
    const refusal = Object.assign(new Error("vc answered 401"), { code: "AUTHENTICATION" });
    let asked = 0;
    const clusters = () => {
      asked++;
      return Promise.reject(refusal);
    };
    const reads = coalescedReads({ ...others, clusters }, timers);
    const ask = () => reads.clusters("vc").catch(() => undefined);
    await ask();
    const [day, sinceStart] = [Date.now(), performance.now()];
    try {
      mock.method(Date, "now", () => day - 5 * 3_600_000);
      mock.method(performance, "now", () => sinceStart + 15_000);
      await ask();
    } finally {
      mock.restoreAll();
    }
    expect(asked).to.equal(2);
  });

  it("fail for all who wait, and are asked anew", async () => {
    let calls = 0;
    const { reads: never } = held();
    const failing = { ...never, countHosts: () => Promise.reject(new Error(`away ${++calls}`)) };
    const reads = coalescedReads(failing, new ManualTimers());
    const outcomes = await Promise.allSettled([reads.countHosts("vc", "c1"), reads.countHosts("vc", "c1")]);
    expect(outcomes.map((one) => one.status === "rejected" && String(one.reason))).to.deep.equal(
      Array(2).fill("Error: away 1"),
    );
    await reads.countHosts("vc", "c1").catch(() => undefined);
    expect(calls).to.equal(2);
  });
});
