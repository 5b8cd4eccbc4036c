import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect } from "chai";
import { allRuns, rawWorkflow, textIn } from "../support/raw-history";
import { exampleNow } from "./examples";
import { ServiceUnderTest } from "./service-under-test";

const config = resolve(__dirname, "../../config");
/** With characters that JSON, XML and URLs write in another way: the part between them is what is looked for. */
const passwords = { manager: `"<&>Zebra-of-the-manager-4711%20`, root: `'Zebra-of-the-root-4711\\` };
const firstHost = "fra1-esx-01.mgmt.example.com";

describe("credentials of component managers", function () {
  this.timeout(240_000);
  let folder: string;
  let service: ServiceUnderTest;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "ums-secrets-"));
    cpSync(config, folder, { recursive: true });
    writeFileSync(join(folder, "simulator-password.txt"), passwords.manager);
    writeFileSync(join(folder, "temporary-root-password.txt"), passwords.root);
    service = await ServiceUnderTest.start({
      INVENTORY_FILE: join(folder, "inventory.yaml"),
      LOG_LEVEL: "trace",
      SIMULATOR_HOST_SECONDS: "0.2",
      POLL_MIN_MILLISECONDS: "50",
    });
  });
  after(async () => {
    await service.discard();
    rmSync(folder, { recursive: true });
  });

  /** No password, whole or in part, as it is or as Basic credentials have it. */
  function expectNoSecret(what: string, text: string) {
    const users = [...readFileSync(join(folder, "inventory.yaml"), "utf8").matchAll(/username: (\S+)/g)];
    const basic = users.map(([, user]) => Buffer.from(`${user}:${passwords.manager}`).toString("base64"));
    for (const secret of ["Zebra-of-the", ...basic]) expect(text.includes(secret), what).to.equal(false);
  }

  it("are in no history, log, Task, Upgrade or list, whatever product is upgraded, with failures", async () => {
    await service.fault({ kind: "REMEDIATION_FAILS", host: firstHost, times: 1, message: "bootbank is too small" });
    const tasks = [];
    for (const spec of [exampleNow("cluster-draft"), exampleNow("platform")]) {
      const { id } = await service.startUpgrade(spec);
      tasks.push(
        await service.taskWhen(id, "ended", ({ status }) => status !== "Pending" && status !== "In Progress", 120),
      );
    }
    expect(tasks.map(({ status }) => status)).to.deep.equal(["Failed", "Successful"]);
    const products = tasks.flatMap(({ subTasks }) => subTasks?.map(({ type }) => type) ?? []);
    expect(products).to.include.members(["NETVIRT_UPGRADE", "MGMT_UPGRADE", "HOSTOS_UPGRADE"]);

    for (const path of ["/v1/upgrades", "/v1/tasks", "/v1/clusters", ...tasks.map(({ id }) => `/v1/tasks/${id}`)])
      expectNoSecret(path, JSON.stringify((await service.get(path)).body));
    for (const role of ["api", "worker"] as const) expectNoSecret(`log of ${role}`, JSON.stringify(service.log(role)));
    expectNoSecret("what is printed", service.printed);
    await service.withTemporal(async (client) => {
      const runs = await allRuns(client);
      expect(runs.length).to.be.at.least(4);
      for (const { workflowId, runId } of runs)
        expectNoSecret(workflowId, textIn(await rawWorkflow(client, workflowId, runId)));
    });
  });
});
