import { join } from "node:path";
import { expect } from "chai";
import { taskExample, upgradeExample, previewExample, pageOfClusterExample } from "../../../src/api/openapi/examples";
import type { SubTask, Task } from "../../../src/domain/spec/task";
import { FakeApi } from "../../support/fake-api";
import { Upgradectl } from "../../support/run-upgradectl";

const { id } = upgradeExample;
const file = join(__dirname, "../../../examples/clusters-with-retry.json");
const { creationTimestamp } = taskExample;
const host = (name: string, status: SubTask["status"]): SubTask => ({
  name,
  type: "HOST_UPGRADE",
  description: name,
  status,
  creationTimestamp,
});
const task: Task = {
  ...taskExample,
  subTasks: [host("esx-1", "SUCCESSFUL"), host("esx-2", "IN_PROGRESS"), host("esx-3", "PENDING")],
};

describe("upgradectl, what cannot be taken back", () => {
  let api: FakeApi;
  let cli: Upgradectl;
  beforeEach(async () => {
    api = await FakeApi.start();
    cli = new Upgradectl();
    cli.env = { UPGRADECTL_SERVER: api.url };
    api.answer(`GET /v1/tasks/${id}`, 200, task).answer(`DELETE /v1/tasks/${id}`, 200, task);
    api.answer(`PATCH /v1/upgrades/${id}`, 200, upgradeExample);
    api.answer(`POST /v1/upgrades/${id}/resolve`, 200, upgradeExample);
    api.answer("POST /v1/upgrades/preview", 200, previewExample).answer("POST /v1/upgrades", 202, taskExample);
    api.answer("GET /v1/clusters", 200, pageOfClusterExample);
  });
  afterEach(async () => {
    await api.stop();
    cli.discard();
  });

  const changes = () => api.received.filter(({ method, url }) => method !== "GET" && !url.endsWith("/preview"));

  for (const [args, consequence] of [
    [["commit", id], "It starts now"],
    [["commit", id, "--at", "in 3h"], "Until then it can be rescheduled"],
    [["reschedule", id, "--now"], "It starts immediately"],
    [["cancel", id], "neither resumed nor retried"],
    [["resolve", id], "no longer be retried"],
    [["start", "-f", file], "to upgrade"],
  ] as const) {
    const command = args.join(" ").replace(id, "ID").replace(file, "FILE");

    it(`${command} needs --yes where there is no terminal`, async () => {
      const { code, stderr } = await cli.run(args);
      expect(code).to.equal(2);
      expect(stderr).to.contain("Next: Add --yes");
      expect(changes()).to.deep.equal([]);
    });

    it(`${command} --yes asks nothing`, async () => {
      expect((await cli.run([...args, "--yes"])).code).to.equal(0);
      expect(cli.asked).to.deep.equal([]);
      expect(changes()).to.have.length(1);
    });

    it(`${command} says in a terminal what follows, and is done only after a yes`, async () => {
      const refused = await cli.runInTerminal(args);
      expect(refused.code).to.equal(130);
      expect(refused.stderr).to.contain(consequence).and.to.contain("Nothing was done.");
      expect(changes()).to.deep.equal([]);
      cli.answer = true;
      expect((await cli.runInTerminal(args)).code).to.equal(0);
      expect(cli.asked).to.have.length(2);
      expect(changes()).to.have.length(1);
    });
  }

  it("cancel says how many hosts are done, in work and left", async () => {
    const { stderr } = await cli.runInTerminal(["cancel", id]);
    expect(stderr).to.contain(task.name).and.to.contain("Hosts: 1 of 3 done, 1 in work, 1 left.");
  });

  it("what can be taken back asks nothing, also without a terminal", async () => {
    for (const name of ["pause", "resume"]) {
      api.answer(`POST /v1/upgrades/${id}/${name}`, 200, upgradeExample);
      expect((await cli.run([name, id])).code).to.equal(0);
    }
    expect((await cli.run(["start", "-f", file, "--draft"])).code).to.equal(0);
    expect((await cli.run(["reschedule", id, "--at", "in 3h"])).code).to.equal(0);
    expect(cli.asked).to.deep.equal([]);
  });

  it("a time is echoed in the zone and in UTC before it is sent, and an error about it names the option", async () => {
    api.answer(`PATCH /v1/upgrades/${id}`, 400, {
      message: "scheduledTimestamp: The time has passed.",
      errorCode: "SCHEDULE_IN_THE_PAST",
      context: { path: "scheduledTimestamp" },
      remediationMessage: "Correct the field; /openapi.json describes every field.",
    });
    const { code, stderr } = await cli.run([
      ...["reschedule", id, "--at", "Sat 02:00", "--zone", "Europe/Berlin", "-o", "json"],
    ]);
    expect(code).to.equal(4);
    expect(api.last.body).to.deep.equal({ scheduledTimestamp: "2036-01-05T01:00:00.000Z" });
    expect(stderr).to.contain("Sat 2036-01-05 02:00 Europe/Berlin (+01:00) = Sat 2036-01-05 01:00 UTC");
    expect(stderr).to.contain("Error: --at: The time has passed.").and.to.contain("Next: Correct --at;");
  });
});
