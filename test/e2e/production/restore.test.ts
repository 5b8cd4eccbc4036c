import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { exampleNow } from "../../support/service/examples";
import { hostsOf, ServiceUnderTest } from "../../support/service/service-under-test";
import { folderOf, temporalCluster, type TemporalCluster } from "./temporal-cluster";

const scripts = resolve(__dirname, "../../../deploy/postgresql");

describe("a restore of the database to an older point", function () {
  this.timeout(240_000);
  let cluster: TemporalCluster;
  let service: ServiceUnderTest;
  const folder = mkdtempSync(join(tmpdir(), "ums-backup-"));

  before(async () => {
    cluster = await temporalCluster();
    service = await ServiceUnderTest.start({ SIMULATOR_HOST_SECONDS: "1.5" });
  });
  after(async () => {
    await service.discard();
    rmSync(folder, { recursive: true, force: true });
  });

  const inDatabase = (script: string) =>
    promisify(execFile)("sh", [join(scripts, script), folder], {
      env: { ...cluster.database, PATH: `${folderOf("POSTGRESQL_CLIENTS")}:/usr/bin:/bin` },
    });

  it("lets an upgrade go on from there, see what has been done since, and do none of it twice", async () => {
    const { id } = await service.startUpgrade(exampleNow("cluster-draft"));
    const done = (least: number) =>
      service.taskWhen(
        id,
        `has ${least} hosts done`,
        (task) => hostsOf(task).filter(({ status }) => status === "SUCCESSFUL").length >= least,
      );
    await done(1);
    await inDatabase("backup.sh");
    const ended = await service.taskWhen(id, "has ended", ({ status }) => !/Pending|In Progress/.test(status));
    expect(ended.status, JSON.stringify(ended.errors)).to.equal("Successful");
    const before = await service.remediations();
    const later = await service.startUpgrade({ ...exampleNow("cluster-draft"), draftMode: true });

    await service.stop();
    await cluster.server.stop();
    await inDatabase("restore.sh");
    await cluster.server.start();
    await service.startAgain();

    const again = await service.taskWhen(
      id,
      "has ended again",
      ({ status }) => !/Pending|In Progress/.test(status),
      90,
    );
    expect(again.status, JSON.stringify(again.errors)).to.equal("Successful");
    expect(hostsOf(again).map(({ status }) => status)).to.deep.equal(hostsOf(ended).map(() => "SUCCESSFUL"));
    expect(await service.remediations(), "how often each host was begun").to.deep.equal(before);
    // What was accepted after the backup is not there: its client reads that, and asks again.
    expect((await service.get(`/v1/upgrades/${later.id}`)).status).to.equal(404);
  });

  it("is refused while somebody uses the databases", async () => {
    const outcome = await inDatabase("restore.sh").then(
      () => "restored",
      (error: unknown) => String(error),
    );
    expect(outcome).to.contain("stop the Temporal server first");
  });
});
