import { readFileSync } from "node:fs";
import { expect } from "chai";
import type { Browser, Page } from "playwright-core";
import { exampleNow } from "../system/examples";
import { hostsOf, ServiceUnderTest } from "../system/service-under-test";
import { screenshot, startChromium } from "./chromium";

const wide = { width: 1280, height: 900 };
const narrow = { width: 390, height: 844 };
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

describe("the operators' console", function () {
  this.timeout(180_000);
  let service: ServiceUnderTest;
  let browser: Browser;
  let page: Page;
  let complaints: string[];

  before(async () => {
    browser = await startChromium();
    service = await ServiceUnderTest.start({ SIMULATOR_HOST_SECONDS: "3" });
  });
  after(async () => {
    await browser.close();
    await service.discard();
  });
  beforeEach(async () => {
    await service.resetSimulator();
    page = await browser.newPage({ viewport: wide });
    page.setDefaultTimeout(30_000);
    complaints = [];
    page.on("pageerror", (error) => complaints.push(error.message));
    page.on("console", (message) => {
      if (/Content Security Policy/.test(message.text())) complaints.push(message.text());
    });
  });
  afterEach(async () => {
    await page.close();
    expect(complaints, "what the browser complained about").to.deep.equal([]);
  });

  const button = (name: string) => page.getByRole("button", { name, exact: true });
  const confirm = async (name: string) => {
    await button(name).click();
    await page.getByRole("dialog").getByRole("button", { name, exact: true }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
  };
  const badge = (text: string) => page.locator(".headline .badge", { hasText: text }).waitFor();
  const isAccessible = async () => {
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      // The page's policy lets no script in by a tag; the debugger's own way does not ask it.
      await page.evaluate(axe);
      const found = await page.evaluate(
        "axe.run().then(({ violations }) => violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`))",
      );
      expect(found, colorScheme).to.deep.equal([]);
    }
    await page.emulateMedia({ colorScheme: "light" });
  };
  const fitsItsWidth = async () =>
    expect(
      await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"),
      "pixels beyond the right edge",
    ).to.be.at.most(0);

  it("leads from a draft to its end", async () => {
    await page.goto(service.apiUrl);
    await page.getByRole("link", { name: "New upgrade" }).last().click();
    await page.getByLabel("Bundle").selectOption(exampleNow("cluster-draft").bundleId);
    await page.getByLabel(/^fra1-mgmt-cl01/).check();
    await isAccessible();
    await screenshot(page, "console-new-upgrade");
    await button("Show the plan").click();
    await page
      .getByText(/fra1-mgmt-cl01 to 9\.0\.2/)
      .last()
      .waitFor();
    await isAccessible();
    await button("Create the draft").click();
    await button("Commit").waitFor();
    await isAccessible();
    await button("Commit").click();
    await isAccessible();
    await page.getByRole("dialog").getByRole("button", { name: "Commit", exact: true }).click();
    await badge("Running");
    await page.locator("progress[value='1']").waitFor();
    await isAccessible();
    await screenshot(page, "console-upgrade");
    for (const size of [narrow, wide]) {
      await page.setViewportSize(size);
      await fitsItsWidth();
    }
    await badge("Successful");
    await page.getByRole("link", { name: "Upgrades" }).click();
    await page
      .getByRole("link", { name: /Successful.*fra1-mgmt-cl01/ })
      .first()
      .waitFor();
    await isAccessible();
  });

  it("shows what failed and retries it", async () => {
    await service.fault({
      kind: "REMEDIATION_FAILS",
      host: "fra1-esx-02.mgmt.example.com",
      message: "bootbank is too small",
    });
    const { id } = await service.startUpgrade(exampleNow("cluster-draft"));
    await page.goto(`${service.apiUrl}/#/upgrades/${id}`);
    await page
      .getByRole("treeitem")
      .getByText(/bootbank is too small/)
      .first()
      .waitFor();
    await page.getByText("What to do:").first().waitFor();
    await isAccessible();
    await screenshot(page, "console-failed-upgrade");
    await service.resetSimulator();
    await confirm("Retry");
    await badge("Successful");
  });

  it("says that it has lost the API, and takes the upgrade up again", async () => {
    const { id } = await service.startUpgrade(exampleNow("cluster-draft"));
    await page.goto(`${service.apiUrl}/#/upgrades/${id}`);
    await badge("Running");
    const successor = service.killAndAwaitSuccessor("api");
    await page.getByText("Connection lost, trying again…").waitFor();
    await successor;
    await page.getByRole("status").getByText("Live").waitFor();
    await badge("Successful");
  });

  it("can be used without a mouse at 390 pixels", async () => {
    await page.setViewportSize(narrow);
    const { id } = await service.startUpgrade(exampleNow("cluster-draft"));
    await page.goto(service.apiUrl);
    await fitsItsWidth();
    const card = page.locator(`a[href="#/upgrades/${id}"]`);
    await card.focus();
    await page.keyboard.press("Enter");
    await service.taskWhen(id, "has a host in work", (task) =>
      hostsOf(task).some(({ status }) => status === "IN_PROGRESS"),
    );
    await page.getByRole("tree").focus();
    await page.keyboard.press("End");
    await page.locator(".tree-row.active").waitFor();
    await button("Pause").focus();
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await button("Pause").focus();
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").getByRole("button", { name: "Pause", exact: true }).focus();
    await page.keyboard.press("Enter");
    await badge("Paused");
    await fitsItsWidth();
    await isAccessible();
    await screenshot(page, "console-narrow");
    await button("Resume").focus();
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").getByRole("button", { name: "Resume", exact: true }).focus();
    await page.keyboard.press("Enter");
    await badge("Running");
  });
});
