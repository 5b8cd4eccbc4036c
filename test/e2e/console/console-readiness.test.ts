import { expect } from "chai";
import type { PageOfReadinessSchedule } from "../../../src/domain/readiness/readiness-spec";
import type { PageOfUpgrade } from "../../../src/domain/spec/upgrade";
import { example } from "../../support/service/examples";
import { until } from "../../support/service/service-under-test";
import { expectAccessible } from "./accessibility";
import { ConsoleUnderTest } from "./console-under-test";
import { hasFocus, pressOn, tabTo } from "./keyboard";

const { bundleId } = example("cluster-draft");
const host = "fra1-esx-02.mgmt.example.com";

describe("the console's readiness checks", function () {
  this.timeout(120_000);
  const console = ConsoleUnderTest.inSuite({ POLL_MIN_MILLISECONDS: "50" });

  const schedules = async () =>
    (await console.service.get<PageOfReadinessSchedule>("/v1/prechecks/schedules")).body.elements ?? [];

  it("start by the keyboard for every night, say what is wrong with which resource, and end with their schedule", async () => {
    const { page, service } = console;
    await service.fault({ kind: "CHECK_FAILS", host, issue: "vSAN health is red", times: 99 });
    await page.goto(`${service.apiUrl}/#/readiness`);
    await page.getByText("No readiness check has run yet.").waitFor();
    await pressOn(page, page.getByRole("link", { name: "New check" }), "Enter");
    await page.getByLabel(/^fra1-mgmt-cl01/).waitFor();
    await pressOn(page, console.button("Start the check"), "Enter");
    await page.getByRole("alert").getByText("Choose at least one cluster.").waitFor();
    expect(await hasFocus(page.getByLabel("Bundle")), "the focus is on what is missing").to.equal(true);
    await page.getByLabel("Bundle").selectOption(bundleId);
    for (const name of [/^fra1-mgmt-cl01/, /^fra1-prod-cl01/]) await pressOn(page, page.getByLabel(name), "Space");
    await tabTo(page, page.getByLabel("Repeat"));
    await page.keyboard.type("Every");
    await page.getByLabel("Time zone").selectOption("Europe/Berlin");
    await page.getByLabel("At", { exact: true }).fill("02:30");
    await expectAccessible(page);
    await pressOn(page, console.button("Start the check"), "Enter");

    await page.locator(".headline .badge", { hasText: "Not ready" }).waitFor();
    const resources = page.getByRole("region", { name: "2 resources" });
    const [first = "", second = ""] = await resources.locator(".checks > li:has(.run-line)").allInnerTexts();
    expect(first)
      .to.match(/^✕ Not ready\s+fra1-mgmt-cl01 .*1 error/)
      .and.to.contain("vSAN health is red")
      .and.to.contain(host);
    expect(first).to.contain("What to do:");
    expect(second).to.match(/Ready.*\s+fra1-prod-cl01/);
    const code = resources.getByRole("link", { name: "HEALTH_CHECK_ERROR" });
    expect(await code.getAttribute("href")).to.equal("/docs/error-codes#HEALTH_CHECK_ERROR");
    await page.getByText("Every day at 02:30, Europe/Berlin").waitFor();
    await expectAccessible(page);
    expect((await schedules()).map(({ schedule }) => schedule)).to.deep.equal([
      { cron: "30 2 * * *", timeZone: "Europe/Berlin" },
    ]);
    expect((await service.get<PageOfUpgrade>("/v1/upgrades")).body.elements).to.deep.equal([]);

    await page.getByRole("navigation", { name: "Breadcrumb" }).getByRole("link").click();
    await page.getByRole("row", { name: /Not ready.*Check 2 clusters/ }).waitFor();
    await page.getByText(/^Next: .*Created by dev/).waitFor();
    await expectAccessible(page);
    await pressOn(page, page.getByRole("button", { name: /^Delete schedule: Check / }), "Enter");
    await page.getByRole("dialog").getByText("No further checks start.").waitFor();
    await expectAccessible(page);
    await console.dialogButton("Delete schedule").click();
    await page.getByRole("heading", { name: "Schedules" }).waitFor({ state: "detached" });
    await until("the schedule is gone", async () => (await schedules()).length === 0);
  });

  it("are cancelled while they run, and say so", async () => {
    const { page, service } = console;
    await service.fault({ kind: "SLOW", path: "/", milliseconds: 3000 });
    await page.goto(`${service.apiUrl}/#/readiness/new`);
    await page.getByLabel(/^fra1-mgmt-cl01/).check();
    await page.getByLabel("Bundle").selectOption(bundleId);
    await console.button("Start the check").click();
    await console.badge("Running");
    await console.confirm("Cancel check", "stays readable");
    await console.badge("Cancelled");
    await page.locator(".run-line", { hasText: /Cancelled.*fra1-mgmt-cl01/ }).waitFor();
    expect(await page.locator(".error").count(), "nothing is told as an error").to.equal(0);
    await page.getByRole("link", { name: "Readiness", exact: true }).click();
    await page.getByRole("row", { name: /Cancelled.*fra1-mgmt-cl01/ }).waitFor();
  });
});
