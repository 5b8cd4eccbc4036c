import { expect } from "chai";
import type { Page } from "playwright-core";
import { example, exampleNow } from "../../support/service/examples";
import { hostsOf } from "../../support/service/service-under-test";
import { axeComplaints, expectAccessible, narrow } from "./accessibility";
import { screenshot } from "./chromium";
import { ConsoleUnderTest } from "./console-under-test";
import { focusedText, hasFocus, pressOn, tabTo } from "./keyboard";

const draft = example("cluster-draft");
const failingHost = "fra1-esx-02.mgmt.example.com";
const fault = { kind: "REMEDIATION_FAILS", host: failingHost, message: "bootbank is too small" };

describe("the walk of an operator through the console", function () {
  this.timeout(180_000);
  const console = ConsoleUnderTest.inSuite({ SIMULATOR_HOST_SECONDS: "2" });

  it("leads by the keyboard alone, at 390 pixels, from a draft over prechecks, commit and pause to success", async () => {
    const { page, service } = console;
    const { id } = await service.startUpgrade(draft);
    await page.setViewportSize(narrow);
    await page.goto(service.apiUrl);
    await pressOn(page, page.locator(`a[href="#/upgrades/${id}"]`), "Enter");
    await console.button("Commit").waitFor();
    await expectAccessible(page);
    await page.setViewportSize(narrow);

    await pressOn(page, console.button("Run prechecks"), "Enter");
    await page.getByRole("dialog").waitFor();
    await expectAccessible(page);
    await page.setViewportSize(narrow);
    await pressOn(page, console.dialogButton("Run prechecks"), "Enter");
    await service.taskWhen(id, "has passed its prechecks again", ({ subTasks = [] }) => {
      const runs = subTasks.filter(({ type }) => type === "PRECHECKS");
      return runs.length === 2 && runs.every(({ status }) => status === "SUCCESSFUL");
    });
    await page.getByText(/^Prechecks, run 2: \d+ checks passed, 0 failed/).waitFor();

    await pressOn(page, console.button("Commit"), "Space");
    const dialog = page.getByRole("dialog");
    expect(await dialog.innerText())
      .to.contain("fra1-mgmt-cl01 will be locked by this upgrade")
      .and.contain("9.0.2")
      .and.contain("immediately");
    await pressOn(page, console.dialogButton("Commit"), "Enter");
    await console.badge("Running");
    await service.taskWhen(id, "has its first host done", (task) => hostsOf(task)[0]?.status === "SUCCESSFUL");

    await pressOn(page, console.button("Pause"), "Enter");
    await dialog.getByText(/fra1-esx-\d+\.mgmt\.example\.com is finished first/).waitFor();
    await dialog.getByText(/\d hosts? will not start until you resume/).waitFor();
    await pressOn(page, console.dialogButton("Pause"), "Enter");
    await console.badge("Paused");
    expect(await focusedText(page), "focus stays where one was").to.not.match(/^BODY/);
    await expectAccessible(page);
    await page.setViewportSize(narrow);
    expect(await wrappedUnderTwist(page), "words that have wrapped to below the sign that opens").to.deep.equal([]);
    await screenshot(page, "console-narrow");
    await pressOn(page, console.button("Resume"), "Enter");
    await pressOn(page, console.dialogButton("Resume"), "Enter");
    await console.badge("Running");
    await tabTo(page, page.getByRole("tree"));
    await page.keyboard.press("End");
    await page.locator(".tree-row.active").waitFor();
    await console.badge("Successful");
    await page.getByRole("status").getByText("Upgrade: Successful. 100 percent of the hosts are done.").waitFor();
    await expectAccessible(page);
  });

  it("shows what failed, in words and by a filter, and retries it", async () => {
    const { page, service } = console;
    await service.fault(fault);
    await console.open(await service.startUpgrade(exampleNow("cluster-draft")));
    await page.getByRole("treeitem").getByText(fault.message).first().waitFor();
    await page.getByText("What to do:").first().waitFor();
    await console.button("Retry").waitFor();
    await page.getByText("Waits for a decision", { exact: true }).waitFor();
    await expectAccessible(page);
    await screenshot(page, "console-failed-upgrade");
    await page.getByLabel("Failed only").check();
    await page.getByRole("treeitem", { name: /Done fra1-esx-01/ }).waitFor({ state: "detached" });
    await page.getByRole("treeitem", { name: /^Failed fra1-esx-02/ }).waitFor();
    await expectAccessible(page);
    await service.resetSimulator();
    expect(await console.confirm("Retry"))
      .to.contain("1 failed host and 2 hosts not started in fra1-mgmt-cl01")
      .and.contain("1 host already done will not be upgraded again");
    await page.getByLabel("Failed only").uncheck();
    await console.badge("Successful");
  });

  it("gives up what failed", async () => {
    const { page, service } = console;
    await service.fault(fault);
    await console.open(await service.startUpgrade(exampleNow("cluster-draft")));
    expect(await console.confirm("Give up"))
      .to.contain("can no longer be retried")
      .and.contain("1 host done stays at 9.0.2")
      .and.contain("3 hosts not done");
    await console.button("Retry").waitFor({ state: "detached" });
    await console.badge("Given up");
    await page.getByRole("status").getByText("Ended", { exact: true }).waitFor();
  });

  it("reschedules, and cancels what waits for its time", async () => {
    const { page, service } = console;
    const inDays = (days: number) => new Date(Date.now() + days * 86_400_000);
    const scheduled = {
      ...exampleNow("cluster-draft"),
      resourceUpgradeSpecs: exampleNow("cluster-draft").resourceUpgradeSpecs.map(({ resourceId }) => ({
        resourceId,
        scheduledTimestamp: inDays(1).toISOString(),
      })),
    };
    const task = await service.startUpgrade(scheduled);
    await console.open(task);
    await console.badge("Scheduled");
    await console.button("Reschedule").click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText(/fra1-mgmt-cl01 at /).waitFor();
    await expectAccessible(page);
    const day = inDays(3).toISOString().slice(0, 10);
    await dialog.getByLabel("New time").fill(`${day}T04:30`);
    await console.dialogButton("Reschedule").click();
    await dialog.waitFor({ state: "detached" });
    const { body } = await service.get<{ resourceUpgradeSpecs: { scheduledTimestamp: string }[] }>(
      `/v1/upgrades/${task.id}`,
    );
    const at: string = await page.evaluate(`new Date("${day}T04:30").toISOString()`);
    expect(body.resourceUpgradeSpecs.map(({ scheduledTimestamp }) => scheduledTimestamp)).to.deep.equal([at]);
    expect(await console.confirm("Cancel upgrade")).to.contain("No host has been touched");
    await console.badge("Cancelled");
  });

  it("cancels an upgrade that runs, after saying which host is finished first", async () => {
    const { page, service } = console;
    const task = await service.startUpgrade(exampleNow("cluster-draft"));
    await console.open(task);
    await service.taskWhen(task.id, "has a host in work", (now) =>
      hostsOf(now).some(({ status }) => status === "IN_PROGRESS"),
    );
    await page.getByRole("treeitem", { name: /Running.*fra1-esx-01/ }).waitFor();
    await page.locator("[role=progressbar][aria-valuenow='1']").waitFor();
    await screenshot(page, "console-upgrade");
    await console.button("Cancel upgrade").click();
    await page.emulateMedia({ colorScheme: "dark" });
    await screenshot(page, "console-confirm");
    await page.keyboard.press("Escape");
    const safeEnd = /fra1-esx-\d+\.mgmt\.example\.com is finished safely first/;
    expect(await console.confirm("Cancel upgrade", safeEnd)).to.contain("cannot be resumed");
    await console.badge("Cancelled");
  });

  it("says why the service refuses, and keeps the focus in the dialog until it is closed", async () => {
    const { page, service } = console;
    const task = await service.startUpgrade(exampleNow("cluster-draft"));
    await console.open(task);
    await tabTo(page, console.button("Pause"));
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor();
    for (let i = 0; i < 7; i++) {
      await page.keyboard.press("Tab");
      expect(
        await page.evaluate("document.activeElement === document.body || !!document.activeElement.closest('dialog')"),
        `after ${i + 1} presses of Tab`,
      ).to.equal(true);
    }
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect(await hasFocus(console.button("Pause")), "focus is back on the button").to.equal(true);

    await page.route("**/pause", (route) => route.continue({ url: route.request().url().replace("pause", "resume") }));
    await page.keyboard.press("Enter");
    await pressOn(page, console.dialogButton("Pause"), "Enter");
    await page.getByRole("dialog").getByRole("alert").waitFor();
    await expectAccessible(page);
  });

  it("moves nothing where somebody wants no motion", async () => {
    const { page, service } = console;
    await console.open(await service.startUpgrade(exampleNow("cluster-draft")));
    await page.getByRole("status").getByText("Live").waitFor();
    const animation = () =>
      page.evaluate("getComputedStyle(document.querySelector('.line'), '::before').animationName");
    expect(await animation()).to.equal("breathe");
    await page.emulateMedia({ reducedMotion: "reduce" });
    expect(await animation()).to.equal("none");
  });

  it("would be told by axe of what is wrong", async () => {
    const { page, service } = console;
    await page.goto(service.apiUrl);
    await page.getByRole("heading", { name: "Upgrades" }).waitFor();
    expect(await axeComplaints(page)).to.deep.equal([]);
    await page.evaluate(
      "document.querySelector('main').append(Object.assign(document.createElement('img'), { src: '/console/none.svg' }))",
    );
    expect((await axeComplaints(page)).join()).to.contain("image-alt");
  });
});

/** The words of rows of the tree that begin left of the row's badge. */
function wrappedUnderTwist(page: Page): Promise<string[]> {
  return page.evaluate(`[...document.querySelectorAll(".tree-row:has(.badge)")].flatMap((row) => {
    const { left } = row.querySelector(".badge").getBoundingClientRect();
    const words = [...row.querySelectorAll("span:not(.twist)")];
    return words.filter((one) => one.getBoundingClientRect().left < left - 1).map(({ textContent }) => textContent);
  })`);
}
