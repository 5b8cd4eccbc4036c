import { expect } from "chai";
import { type PageOfUpgrade, Upgrade } from "../../../src/domain/spec/upgrade";
import type { UpgradeCounts } from "../../../src/domain/upgrade/attention";
import { example } from "../../support/service/examples";
import { hostsOf, ServiceUnderTest, until } from "../../support/service/service-under-test";

const tomorrow = () => new Date(Date.now() + 86_400_000).toISOString();

describe("the list of upgrades over HTTP", function () {
  this.timeout(180_000);
  let service: ServiceUnderTest;
  before(async () => {
    service = await ServiceUnderTest.start({ SIMULATOR_HOST_SECONDS: "1", POLL_MIN_MILLISECONDS: "50" });
  });
  after(() => service.discard());

  const list = async (query = "") => {
    const { body } = await service.get<PageOfUpgrade>(`/v1/upgrades?${query}`);
    return (body.elements ?? []).map(({ id, phase }) => ({ id, phase }));
  };
  const untilListed = (phase: string, query: string, ids: readonly string[]) =>
    until(`the list ${query} is as expected (${phase})`, async () => {
      const found = (await list(query)).map(({ id }) => id);
      return JSON.stringify(found) === JSON.stringify(ids);
    });

  it("tells where each upgrade is and what became of its hosts, sorted by attention, searched and counted", async () => {
    const { id: draft } = await service.startUpgrade(example("cluster-draft"));
    await until("the draft is ready", async () => {
      const { body } = await service.get<Upgrade>(`/v1/upgrades/${draft}`);
      return body.phase === "DRAFT_READY";
    });
    expect((await service.send("PATCH", `/v1/upgrades/${draft}`, { scheduledTimestamp: tomorrow() })).status).to.equal(
      200,
    );
    await untilListed("scheduled", "phase=SCHEDULED", [draft]);
    const [name = ""] = ((await service.get<Upgrade>(`/v1/upgrades/${draft}`)).body.resources ?? []).map(
      (resource) => resource.name ?? "",
    );
    const changeRecord = { reason: "Security fixes", changeId: "CHG0012345", labels: { team: "blue", site: "fra1" } };
    const { id: second } = await service.startUpgrade({ ...example("cluster-draft"), ...changeRecord });
    await untilListed("by attention", "", [draft, second]);
    await untilListed("newest first", "sort=created", [second, draft]);
    await untilListed("both", `search=${encodeURIComponent(name.slice(0, 4))}`, [draft, second]);
    await untilListed("by its id", `search=${second.slice(0, 12)}`, [second]);
    await untilListed("several statuses", "status=DRAFT,SCHEDULED", [draft, second]);
    await untilListed("by the change record", "changeId=CHG0012345&label=team%3Dblue,site%3Dfra1", [second]);
    await untilListed("searched by it", "search=chg0012345", [second]);
    expect(await list("label=team%3Dred")).to.deep.equal([]);
    expect((await service.get(`/v1/upgrades?label=team`)).status).to.equal(400);
    for (const path of [`/v1/upgrades/${second}`, `/v1/tasks/${second}`])
      expect((await service.get<object>(path)).body).to.deep.include(changeRecord);
    expect(await list("search=nothing-has-this-name")).to.deep.equal([]);

    expect((await service.send("PATCH", `/v1/upgrades/${draft}`, { upgradeNow: true })).status).to.equal(200);
    const task = await service.taskWhen(draft, "is successful", ({ status }) => status === "Successful");
    await untilListed("ended last", "", [second, draft]);
    const { body: done } = await service.get<Upgrade>(`/v1/upgrades/${draft}`);
    if (!Upgrade.is(done)) throw new Error(`Not an Upgrade: ${JSON.stringify(done)}`);
    const total = hostsOf(task).length;
    expect(done).to.deep.include({ phase: "SUCCEEDED", hosts: { total, done: total, running: 0, failed: 0, left: 0 } });
    expect(done).to.include.all.keys("createdBy", "committedAt", "startedAt", "workSeconds", "hostVersions");
    await until("they are counted", async () => {
      const { body } = await service.get<UpgradeCounts>("/v1/upgrades/counts");
      const counts = new Map(body.phases.map(({ phase, upgrades }) => [phase, upgrades]));
      return body.total === 2 && counts.get("SUCCEEDED") === 1 && counts.get("DRAFT_READY") === 1;
    });
  });
});
