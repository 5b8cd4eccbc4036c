import { spawn, type ChildProcess } from "node:child_process";
import { resolve } from "node:path";
import { expect } from "chai";
import { ConfigWithReceiver } from "../../support/config-with-receiver";
import { Upgradectl } from "../../support/run-upgradectl";
import { narrow, wide } from "./accessibility";
import { screenshot } from "./chromium";
import { ConsoleUnderTest } from "./console-under-test";
import { TerminalPage } from "./terminal-page";

const root = resolve(__dirname, "../../..");
const failingHost = "fra1-esx-02.mgmt.example.com";

/** The program of examples/ that takes notifications, with what it prints shown on a terminal. */
class ReceiverExample {
  private child: ChildProcess | undefined;
  private printed = "";
  private print: (text: string) => void = () => undefined;

  /** Resolves with its URL. */
  async start(secretFile: string): Promise<string> {
    const program = resolve(root, "examples/receive-notifications.mjs");
    const child = spawn(process.execPath, [program, secretFile, "0"], { stdio: ["ignore", "pipe", "inherit"] });
    this.child = child;
    return new Promise((listens, fails) => {
      child.once("error", fails).once("exit", (code) => fails(new Error(`The receiver has ended with ${code}`)));
      child.stdout.setEncoding("utf8").on("data", (text: string) => {
        this.printed += text;
        this.print(text);
        const [url] = /http:\S+/.exec(this.printed) ?? [];
        if (url !== undefined) listens(url);
      });
    });
  }

  /** What it has printed so far, and then what it prints. */
  showOn(terminal: TerminalPage): void {
    terminal.write(`$ node examples/receive-notifications.mjs /tmp/tour/chat-secret.txt\n${this.printed}`);
    this.print = (text) => terminal.write(text);
  }

  stop(): void {
    this.child?.kill();
  }
}

describe("the tour of docs/tour.md", function () {
  this.timeout(240_000);
  const config = new ConfigWithReceiver(`whsec_${Buffer.alloc(32, "tour").toString("base64")}`);
  const receiver = new ReceiverExample();
  const cli = new Upgradectl();
  before(async () => config.addReceiver(await receiver.start(config.secretFile)));
  const console = ConsoleUnderTest.inSuite({ INVENTORY_FILE: config.inventory, SIMULATOR_HOST_SECONDS: "5" });
  after(() => {
    receiver.stop();
    cli.discard();
    config.discard();
  });

  it("leads from the choice of a cluster over a host that fails to success, and somebody is told", async () => {
    const { page, service } = console;
    cli.env = { UPGRADECTL_SERVER: service.apiUrl, UPGRADECTL_TOKEN: "tour", TERM: "xterm-256color" };
    const terminal = await TerminalPage.beside(page, 104, 40);
    const chat = await TerminalPage.beside(page, 104, 40);
    receiver.showOn(chat);

    for (const list of ["bundles", "clusters"]) expect(await terminal.run(cli, list)).to.equal(0);
    await terminal.picture("tour-lists");
    expect(await terminal.run(cli, "plan", "-f", "examples/cluster-draft.json")).to.equal(0);
    await terminal.shows(/Nothing was started/);
    await terminal.picture("tour-plan-terminal");

    await page.goto(`${service.apiUrl}/#/new`);
    await page.getByLabel("Bundle").selectOption("7d1c1f6e-3a52-4f0e-9c11-5c0a90020002");
    await page.getByLabel(/^fra1-mgmt-cl01/).check();
    await console.button("Show the plan").click();
    await console.button("Create the draft").waitFor();
    await page.evaluate("scrollTo(0, 0)");
    await screenshot(page, "tour-plan");

    await console.button("Create the draft").click();
    await console.button("Commit").waitFor();
    await console.badge("Draft");
    const id = /#\/upgrades\/(.+)$/.exec(page.url())?.[1] ?? "";
    await screenshot(page, "tour-draft");
    await service.fault({ kind: "REMEDIATION_FAILS", host: failingHost, times: 1, message: "bootbank is too small" });
    await console.button("Commit").click();
    await page.getByRole("dialog").getByText("immediately").waitFor();
    await screenshot(page, "tour-commit");
    await console.dialogButton("Commit").click();
    await console.badge("Running");

    const watched = terminal.run(cli, "watch", id);
    await terminal.shows(/▶ fra1-esx-01/);
    await terminal.picture("tour-watch");
    expect(await watched).to.equal(1);
    await terminal.shows(/bootbank is too small[^]*Next: /);
    await terminal.picture("tour-failed-terminal");
    await page.getByText("Waits for a decision").waitFor();

    expect(await terminal.run(cli, "retry", id, "--watch")).to.equal(0);
    await terminal.shows(/4\/4 done[^]*Before the retry: .*bootbank/);
    await terminal.picture("tour-retry");
    // Nobody has touched the page since the failure.
    await console.badge("Successful");
    await page.getByRole("heading", { name: "What went wrong before the retry" }).waitFor();
    await page.setViewportSize(narrow);
    await screenshot(page, "tour-phone");
    await page.setViewportSize(wide);
    await page.getByRole("heading", { name: "What went wrong before" }).scrollIntoViewIfNeeded();
    await screenshot(page, "tour-timeline");

    await chat.shows(/upgrade\.draft\.ready[^]*upgrade\.failed[^]*What to do: [^]*upgrade\.successful/);
    await chat.picture("tour-notifications");
    await Promise.all([terminal.close(), chat.close()]);

    await page.goto(`${service.temporalUiUrl}/namespaces/default/workflows/${id}`);
    await page.getByText("User Metadata").waitFor();
    await page.getByText("retry").first().waitFor();
    await page.getByRole("heading", { name: "Event History", exact: true }).hover();
    await page.mouse.wheel(0, 500);
    await screenshot(page, "tour-temporal");
  });
});
