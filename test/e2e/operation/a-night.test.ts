import { expect } from "chai";
import type { Task } from "../../../src/domain/spec/task";
import type { PageOfUpgrade, Upgrade } from "../../../src/domain/spec/upgrade";
import { NpmStart } from "../../support/service/npm-start";
import { hostsOf, ServiceUnderTest, until } from "../../support/service/service-under-test";
import { Tutorial } from "../../support/tutorial";

describe("the night of docs/a-night.md", function () {
  this.timeout(300_000);
  const night = new Tutorial("a-night.md");
  /** What the page sets for the service, which each of its starts reads. */
  const variables: Record<string, string> = {};
  let service: ServiceUnderTest;

  before(async () => {
    // A host in seconds, so that as many begin in a window as on the page.
    night.replace("SIMULATOR_HOST_SECONDS=20", "SIMULATOR_HOST_SECONDS=5");
    night.replace("WINDOW_LENGTH=PT80S", "WINDOW_LENGTH=PT25S");
    const quick = { POLL_MIN_MILLISECONDS: "50", COMPONENT_MANAGER_CALL_SECONDS: "5" };
    Object.assign(variables, await night.start(2), quick);
    const deployment = await NpmStart.prepare(variables);
    service = await ServiceUnderTest.on(deployment);
    night.replace("http://127.0.0.1:8080", service.apiUrl);
    night.replace("http://127.0.0.1:8090", service.simulatorUrl);
    night.replace("/tmp/night", deployment.dataDir);
  });
  after(async () => {
    await service.discard();
    night.discard();
  });

  /** As a user who may read. */
  async function upgrade(): Promise<Upgrade> {
    const { body } = await service.get<PageOfUpgrade>("/v1/upgrades");
    return body.elements?.[0] ?? { id: "" };
  }
  const untilUpgrade = (what: string, holds: (upgrade: Upgrade) => boolean) =>
    until(`the upgrade ${what}`, async () => holds(await upgrade()), 90);
  const untilWaits = (code: string) =>
    untilUpgrade(`waits: ${code}`, ({ phase, waitingFor }) => phase === "WAITING" && waitingFor?.code === code);
  const task = async () => (await service.get<Task>(`/v1/tasks/${(await upgrade()).id}`)).body;

  /** Stops the service and starts it with what the page sets next. */
  async function fall(): Promise<void> {
    await service.stop();
    Object.assign(variables, await night.start());
    await service.startAgain();
  }

  it("does what the page shows, command by command", async () => {
    const login = { username: "alice", password: "known to everybody" };
    service.token = (await service.post<{ accessToken: string }>("/v1/tokens", login)).body.accessToken;
    await night.run("alias upgradectl=");
    await night.run("upgradectl login --context bob");
    await night.run("upgradectl login --context alice");

    await night.run("curl");
    await night.run("upgradectl start");
    await untilUpgrade("has failed its prechecks", ({ phase }) => phase === "PRECHECKS_FAILED");
    await night.run("upgradectl get");
    await night.run("upgradectl acknowledge");
    await untilUpgrade("is ready", ({ phase }) => phase === "DRAFT_READY");
    expect(await night.run("upgradectl approve")).to.contain("Next: `upgradectl commit");
    await night.run("upgradectl commit");
    await untilWaits("WINDOW");
    await night.run("upgradectl status");
    expect(await service.remediations()).to.deep.equal({});

    await night.run("curl");
    await fall();
    await until("a host has failed, and another cluster has done one", async () => {
      const hosts = hostsOf(await task());
      return hosts.some(({ status }) => status === "FAILED") && hosts.at(-4)?.status === "SUCCESSFUL";
    });
    await night.run("upgradectl get");
    await night.run("upgradectl skip");
    await untilWaits("WINDOW");
    await night.run("upgradectl list");
    const firstNight = await service.remediations();
    expect(Object.keys(firstNight).length).to.be.within(6, 17);

    await night.run("upgradectl freeze");
    await fall();
    await untilWaits("FROZEN");
    await until("the window is open", async () => {
      const { body } = await service.get<{ elements: { maintenance: { isOpen: boolean } }[] }>("/v1/clusters");
      return body.elements.every(({ maintenance }) => maintenance.isOpen);
    });
    await night.run("upgradectl status");
    expect(await service.remediations()).to.deep.equal(firstNight);
    await night.run("upgradectl thaw");
    await night.run("upgradectl watch");

    const remediations = Object.values(await service.remediations());
    expect(remediations).to.deep.equal(Array(18).fill(1));
    await night.run("upgradectl activity");
    const audited = await night.run("grep");
    expect(
      audited
        .trim()
        .split("\n")
        .map((line) => [actionOf(line).action, actionOf(line).caller]),
    ).to.deep.equal([
      ["putFreeze", "alice"],
      ["liftFreeze", "alice"],
    ]);
    expect(await service.unsoundHistories()).to.deep.equal([]);
    await service.stop();
    await night.run("rm -r");
    expect(night.left, "commands that nothing has run").to.equal(0);
  });
});

function actionOf(line: string): { readonly action: string; readonly caller: string } {
  return JSON.parse(line) as { action: string; caller: string };
}
