import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { DriverError } from "../../../activities/drivers/driver-error";
import { createVlcmClient, type VlcmClient } from "../../../activities/drivers/vlcm/vlcm-client";
import { eventually } from "../../support/eventually";

describe("the unfinished tasks of clusters", () => {
  let server: Server;
  let client: VlcmClient;
  /** Lists that were asked for and are answered when the test says so. */
  let lists: ServerResponse[];

  beforeEach(async () => {
    lists = [];
    server = createServer((request, response) => {
      if (request.url?.startsWith("/api/cis/tasks?")) lists.push(response);
      else response.end(JSON.stringify("session"));
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    client = createVlcmClient(
      { id: "vc-01", url, username: "svc", password: "secret" },
      { callTimeout: 5_000, quickRetries: 0 },
    );
  });
  afterEach(async () => {
    await client.close();
    server.closeAllConnections();
    server.close();
  });

  const task = (cluster: string, status = "RUNNING") => ({
    ...{ status, operation: "apply", service: "software", cancelable: true },
    target: { type: "ClusterComputeResource", id: cluster },
  });
  const asked = (count: number) =>
    eventually(
      async () => lists,
      (all) => all.length === count,
    );
  const answer = (body: unknown, status = 200) => lists.at(-1)?.writeHead(status).end(JSON.stringify(body));
  const ids = async (tasks: Promise<ReadonlyMap<string, unknown>>) => [...(await tasks).keys()];

  it("are of the cluster that is asked for, and of no other", async () => {
    const found = client.listUnfinishedTasks("domain-c1");
    await asked(1);
    answer({ t1: task("domain-c1"), t2: task("domain-c2"), t3: task("domain-c1", "SUCCEEDED"), t4: task("domain-c1") });
    expect(await ids(found)).to.deep.equal(["t1", "t4"]);
  });

  it("are listed once for all who ask while a list is under way, and not from that one, which is older than they", async () => {
    const first = client.listUnfinishedTasks("domain-c1");
    await asked(1);
    const later = ["domain-c1", "domain-c2", "domain-c3"].map((cluster) => client.listUnfinishedTasks(cluster));
    answer({});
    expect(await ids(first)).to.deep.equal([]);
    await asked(2);
    answer({ t1: task("domain-c1"), t2: task("domain-c2") });
    expect(await Promise.all(later.map(ids))).to.deep.equal([["t1"], ["t2"], []]);
    expect(lists).to.have.length(2);
  });

  it("fail for all who have asked together, and for nobody later", async () => {
    const first = client.listUnfinishedTasks("domain-c1");
    await asked(1);
    const later = ["domain-c1", "domain-c2"].map((cluster) =>
      client.listUnfinishedTasks(cluster).catch((error: unknown) => error),
    );
    answer({});
    await first;
    await asked(2);
    answer({}, 503);
    for (const error of await Promise.all(later)) {
      expect(error).to.be.instanceOf(DriverError);
      expect(error).to.have.property("message").that.includes("list the running tasks of domain-c1 and 1 more");
    }
    const again = client.listUnfinishedTasks("domain-c1");
    await asked(3);
    answer({ t1: task("domain-c1") });
    expect(await ids(again)).to.deep.equal(["t1"]);
  });
});
