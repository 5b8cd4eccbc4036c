import { expect } from "chai";
import type { VlcmClient } from "../../../activities/drivers/vlcm/vlcm-client";
import { recentReads, type RecentReads } from "../../../activities/drivers/vlcm/recent-reads";

describe("reads between two hosts of one run", () => {
  let asked: string[];
  let plain: VlcmClient;
  let client: VlcmClient;
  let forget: RecentReads["forget"];

  beforeEach(() => {
    asked = [];
    const answered = (what: string) => async (cluster: string) => {
      asked.push(`${what} ${cluster}`);
      return [];
    };
    const part = {
      listHosts: answered("hosts"),
      readCompliance: answered("compliance"),
      readDesiredImage: answered("image"),
      readLastApplyResult: answered("last result"),
      readTask: async (task: string) => {
        asked.push(task);
        return {
          status: "SUCCEEDED",
          result: task === "check-1" ? { status: "OK" } : { successful_hosts: ["host-1"] },
        };
      },
      listUnfinishedTasks: answered("tasks"),
      apply: async (cluster: string) => {
        asked.push(`apply ${cluster}`);
        return `apply-${asked.length}`;
      },
      scan: answered("scan"),
    };
    plain = part as unknown as VlcmClient;
    ({ client, forget } = recentReads(plain, 60_000));
  });

  it("are made once, for each cluster", async () => {
    await Promise.all([client.listHosts("c-1"), client.listHosts("c-1"), client.readCompliance("c-1")]);
    await client.listHosts("c-2");
    await client.readDesiredImage("c-1");
    await client.readDesiredImage("c-1");
    expect(asked).to.deep.equal(["hosts c-1", "compliance c-1", "hosts c-2", "image c-1"]);
  });

  it("are made again after whatever changes what they tell", async () => {
    await client.listHosts("c-1");
    await client.apply("c-1", { hosts: ["host-1"] });
    await client.listHosts("c-1");
    await client.readCompliance("c-1");
    await client.scan("c-1");
    await client.readCompliance("c-1");
    expect(asked).to.deep.equal([
      ...["hosts c-1", "apply c-1", "hosts c-1"],
      ...["compliance c-1", "scan c-1", "compliance c-1"],
    ]);
  });

  it("keep the desired image, which no remediation changes", async () => {
    await client.readDesiredImage("c-1");
    await client.apply("c-1", { hosts: ["host-1"] });
    await client.readDesiredImage("c-1");
    expect(asked).to.deep.equal(["image c-1", "apply c-1"]);
  });

  it("take the result of the last remediation from its own task, and from no other", async () => {
    await client.readLastApplyResult("c-1");
    const task = await client.apply("c-1", { hosts: ["host-1"] });
    await client.readTask("check-1");
    await client.readLastApplyResult("c-1");
    await client.apply("c-2", { hosts: ["host-1"] });
    await client.readTask(task);
    expect(await client.readLastApplyResult("c-1")).to.deep.equal({ successful_hosts: ["host-1"] });
    await client.readLastApplyResult("c-2");
    expect(asked).to.deep.equal([
      ...["last result c-1", "apply c-1", "check-1", "last result c-1"],
      ...["apply c-2", task, "last result c-2"],
    ]);
  });

  it("are made again after a failure", async () => {
    let isFirst = true;
    const { client: failing } = recentReads(
      {
        ...client,
        listHosts: async () => {
          if (!isFirst) return [];
          isFirst = false;
          throw new Error("503");
        },
      },
      60_000,
    );
    expect(await failing.listHosts("c-1").catch(() => "failed")).to.equal("failed");
    expect(await failing.listHosts("c-1")).to.deep.equal([]);
  });

  it("are made anew when they are too old, and where the second look is to see something new", async () => {
    const { client: forgetful } = recentReads(plain, 0);
    await forgetful.listHosts("c-1");
    await forgetful.listHosts("c-1");
    expect(asked).to.deep.equal(["hosts c-1", "hosts c-1"]);

    await client.listHosts("c-2");
    await client.readDesiredImage("c-2");
    forget();
    await client.listHosts("c-2");
    await client.readDesiredImage("c-2");
    expect(asked.slice(2)).to.deep.equal(["hosts c-2", "image c-2", "hosts c-2"]);
  });

  it("do not keep what says whether something runs", async () => {
    await client.listUnfinishedTasks("c-1");
    await client.listUnfinishedTasks("c-1");
    expect(asked).to.have.length(2);
  });
});
