import { expect } from "chai";
import { nsxApis } from "../../../src/simulator/nsx/nsx-api";
import type { RunningSimulator } from "../../../src/simulator/start-simulator";
import { SimulatorContext } from "../../../src/simulator/state/context";
import { nsxConfig, NsxTestClient } from "../../unit/simulator/nsx-client";
import { startTestSimulator, type TestClock } from "../../unit/simulator/simulator-client";
import { nsxContract } from "./nsx-contract";
import { startValidatingProxy, type ValidatingProxy } from "./validating-proxy";

describe("the simulator against the upgrade coordinator's contract", () => {
  let simulator: RunningSimulator;
  let control: NsxTestClient;
  let client: NsxTestClient;
  let clock: TestClock;
  let proxy: ValidatingProxy;
  const walked = new Set<string>();

  beforeEach(async () => {
    ({ simulator, clock } = await startTestSimulator({ config: nsxConfig({ hosts: 2 }) }));
    proxy = await startValidatingProxy({ target: `${simulator.url}/nsx/nsx-01`, document: nsxContract() });
    control = new NsxTestClient(simulator.url);
    client = new NsxTestClient(proxy.url, "");
  });
  afterEach(async () => {
    for (const call of proxy.calls) walked.add(call);
    await proxy.close();
    await simulator.close();
    expect(proxy.violations).to.deep.equal([]);
  });

  const status = async (method: string, path: string, body?: unknown) => (await client.call(method, path, body)).status;

  it("answers the node's status, backups and certificates, well and with each fault", async () => {
    const readAll = async () => {
      for (const path of [
        "/api/v1/node/status",
        "/api/v1/cluster/backups/history",
        "/api/v1/trust-management/certificates?details=true&page_size=1",
      ])
        expect((await client.send("GET", path)).status, path).to.equal(200);
    };
    await readAll();
    for (const kind of ["NSX_BACKUP_OLD", "NSX_CERTIFICATE_EXPIRES", "NSX_CLOCK_WRONG", "NSX_DISK_FULL"])
      await control.fault({ kind });
    await readAll();
  });

  it("answers summary, status, groups and units before, while and after they are upgraded", async () => {
    const readAll = async () => {
      for (const path of [
        "/summary",
        "/status-summary",
        "/status-summary?component_type=HOST",
        "/upgrade-unit-groups",
        "/upgrade-unit-groups?component_type=EDGE&sync=true&summary=true&page_size=1",
        "/upgrade-unit-groups/hosts-cl01",
        "/upgrade-unit-groups-status?component_type=HOST",
        "/upgrade-unit-groups/hosts-cl01/status?page_size=1&cursor=1",
        "/pre-upgrade-checks/failures?component_type=HOST",
      ]) {
        expect(await status("GET", path), path).to.equal(200);
      }
    };
    await readAll();
    await control.fault({ kind: "NSX_CHECK_FAILS", node: "cl01-esx-01", times: 1 });
    expect(await status("POST", "?action=execute_pre_upgrade_checks")).to.equal(204);
    expect(await status("POST", "?action=execute_pre_upgrade_checks&component_type=HOST")).to.equal(500);
    await readAll();
    clock.advance(30);
    await control.fault({ kind: "NSX_NODE_FAILS", node: "cl02-esx-01", times: 1 });
    expect((await client.start("HOST")).status).to.equal(204);
    clock.advance(10);
    await readAll();
    expect(await status("POST", "/plan?action=pause")).to.equal(204);
    clock.advance(500);
    await readAll();
    expect(await status("POST", "/plan?action=continue&component_type=HOST")).to.equal(204);
  });

  it("answers changes of groups and settings", async () => {
    expect((await client.setGroup("hosts-cl01", { enabled: false, parallel: true })).status).to.equal(200);
    const settings = { parallel: false, pause_on_error: true, pause_after_each_group: false };
    expect((await client.call("PUT", "/plan/HOST/settings", settings)).body).to.deep.equal(settings);
    expect((await client.call("GET", "/plan/HOST/settings")).body).to.deep.equal(settings);
  });

  it("answers errors in the product's own shape", async () => {
    expect((await client.setGroup("hosts-cl01", { _revision: 9 })).status).to.equal(412);
    expect((await client.setGroup("edge-1", { parallel: false })).status).to.equal(400);
    expect(await status("GET", "/upgrade-unit-groups/gone")).to.equal(404);
    expect(await status("GET", "/plan/FINALIZE_UPGRADE/settings")).to.equal(404);
    expect(await status("GET", "/status-summary?component_type=CCP")).to.equal(400);
    expect((await client.start("FINALIZE_UPGRADE")).status).to.equal(400);
    expect(await status("POST", "/plan?action=reset")).to.equal(400);
    for (const [kind, expected] of [
      ["NSX_STILL_IN_PROGRESS", 500],
      ["NSX_ACCOUNT_REFUSED", 403],
      ["SERVICE_UNAVAILABLE", 503],
    ] as const) {
      await control.fault({ kind, times: 1 });
      expect(await status("GET", "/status-summary")).to.equal(expected);
    }
    const anonymous = await fetch(`${proxy.url}/api/v1/upgrade/summary`);
    expect(anonymous.status).to.equal(401);
  });

  after(async function () {
    // Says something only after a full run, not where a part was selected.
    if (!this.test?.parent?.tests.every(({ state }) => state === "passed")) return;
    const context = await SimulatorContext.open({
      config: nsxConfig(),
      hostSeconds: 0,
      now: Date.now,
      log: () => undefined,
    });
    const routes = nsxApis(context)[1]!.stack.filter(
      ({ methods, path }) => methods.length > 0 && !/\*/.test(String(path)),
    );
    const paths = [...walked].map((call) => call.replace(/\?.*$/, "").split(" "));
    const missed = routes.flatMap(({ methods, path, regexp }) =>
      methods
        .filter((method) => method !== "HEAD" && !paths.some(([m, p]) => m === method && regexp.test(p ?? "")))
        .map((method) => `${method} ${String(path)}`),
    );
    expect(missed, "routes that no test called").to.deep.equal([]);
  });
});
