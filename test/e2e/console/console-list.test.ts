import { expect } from "chai";
import type { Request } from "playwright-core";
import { example } from "../../support/service/examples";
import { until } from "../../support/service/service-under-test";
import { expectAccessible } from "./accessibility";
import { screenshot } from "./chromium";
import { ConsoleUnderTest } from "./console-under-test";

describe("the console's list of upgrades", function () {
  this.timeout(120_000);
  const console = ConsoleUnderTest.inSuite({});

  it("is filtered by the service, keeps its filters in the address, and shows what comes", async () => {
    const { page, service } = console;
    const mine = await service.startUpgrade(example("cluster-draft"));
    const rows = page.locator(".upgrades tbody tr");
    await page.goto(service.apiUrl);
    await page.locator(`a[href="#/upgrades/${mine.id}"]`).waitFor();
    await page.getByText("Filters", { exact: true }).click();
    const asked = page.waitForRequest((request) => request.url().includes("resourceId="));
    await page.getByLabel("Cluster").selectOption({ label: "fra1-prod-cl01" });
    expect((await asked).url()).to.match(/resourceId=4a6c1a1e-51b2-4d3c-9e0f-000000000008&pageNumber=0&pageSize=25/);
    await page.getByText("No upgrades match.").waitFor();
    expect(await rows.count()).to.equal(0);
    await page.getByLabel("Cluster").selectOption({ label: "fra1-mgmt-cl01" });
    await page.getByRole("link", { name: /^Drafts/ }).click();
    await page.getByText("1 upgrade found").waitFor();
    const address = page.url();
    expect(address).to.contain("resourceId=").and.to.contain("tab=DRAFTS");
    await expectAccessible(page);

    await page.goto("about:blank");
    await page.goto(address);
    await page.getByText("1 upgrade found").waitFor();
    expect(await page.getByRole("link", { name: /^Drafts/ }).getAttribute("aria-current")).to.equal("page");
    await page.goBack();
    await page.goForward();
    await page.getByText("1 upgrade found").waitFor();

    const second = await service.startUpgrade(example("cluster-draft"));
    await page.locator(`a[href="#/upgrades/${second.id}"]`).waitFor();
  });

  it("takes several filters at once, and takes each away again by its chip", async () => {
    const { page, service } = console;
    await service.startUpgrade(example("cluster-draft"));
    await page.goto(`${service.apiUrl}/#/?tab=DRAFTS`);
    await page.getByText("1 upgrade found").waitFor();
    await page.getByText("Filters", { exact: true }).click();
    await page.getByLabel("Status").selectOption({ label: "Draft, ready" });
    await page.getByLabel("Created by", { exact: true }).first().fill("DEV");
    await page.keyboard.press("Enter");
    const asked = page.waitForRequest((request) => request.url().includes("createdSince="));
    await page.getByLabel("Created in").selectOption("7d");
    expect(new URL((await asked).url()).searchParams.get("phase")).to.equal("DRAFT_READY");
    await page.getByText("1 upgrade found").waitFor();
    const chips = page.getByRole("list", { name: "Filters that are on" });
    for (const words of ["Status: Draft, ready", "Created by: DEV", "Created in the last 7 days"])
      await chips.getByRole("button", { name: `${words} (remove)` }).waitFor();
    await expectAccessible(page);
    await page.getByLabel("Created by", { exact: true }).first().fill("nobody");
    await page.keyboard.press("Enter");
    await page.getByText("No upgrades match.").waitFor();
    await chips.getByRole("button", { name: "Created by: nobody" }).click();
    await page.getByText("1 upgrade found").waitFor();
    expect(page.url()).to.contain("created=7d").and.contain("phase=DRAFT_READY").and.not.contain("createdBy");
    await chips.getByRole("button", { name: "Remove all" }).click();
    await page.waitForURL((url) => url.hash === "#/?tab=DRAFTS");
  });

  it("finds upgrades by words, sorts them, leaves out columns, and keeps all of that in the address", async () => {
    const { page, service } = console;
    const mine = await service.startUpgrade(example("cluster-draft"));
    await page.goto(service.apiUrl);
    const rows = page.locator(".upgrades tbody tr");
    await page.getByLabel("Search").fill("no-such-cluster");
    await page.getByText("No upgrades match.").waitFor();
    await page.getByLabel("Search").fill(mine.id.slice(0, 8));
    await page.getByText("1 upgrade found").waitFor();
    expect(await rows.innerText()).to.contain(mine.id.slice(0, 8));
    await page.getByLabel("Order").selectOption("created");
    await page.getByText("Columns", { exact: true }).click();
    await page.getByRole("checkbox", { name: "Created by" }).uncheck();
    await page.getByRole("columnheader", { name: "Created by" }).waitFor({ state: "detached" });
    const address = page.url();
    await page.goto("about:blank");
    await page.goto(address);
    await page.getByText("1 upgrade found").waitFor();
    expect(await page.getByLabel("Search").inputValue()).to.equal(mine.id.slice(0, 8));
    expect(await page.getByLabel("Order").inputValue()).to.equal("created");
    expect(await page.getByRole("columnheader", { name: "Created by" }).count()).to.equal(0);
  });

  it("cancels several drafts at once, after saying so once, and counts them as ended", async () => {
    const { page, service } = console;
    const drafts = [
      await service.startUpgrade(example("cluster-draft")),
      await service.startUpgrade(example("cluster-draft")),
    ];
    await page.goto(service.apiUrl);
    for (const { id } of drafts) {
      const row = page.locator(".upgrades tbody tr").filter({ has: page.locator(`a[href="#/upgrades/${id}"]`) });
      await row.getByRole("checkbox").check();
    }
    await console.button("Cancel 2").click();
    const dialog = page.getByRole("dialog");
    expect(await dialog.innerText()).to.contain("Each is cancelled");
    await expectAccessible(page);
    await console.dialogButton("Cancel 2 upgrades").click();
    await dialog.waitFor({ state: "detached" });
    for (const { id } of drafts) {
      const row = page.locator(".upgrades tbody tr").filter({ has: page.locator(`a[href="#/upgrades/${id}"]`) });
      await row.locator(".badge", { hasText: "Cancelled" }).waitFor();
    }
    await page.getByRole("link", { name: /^Ended [1-9]/ }).waitFor();
  });

  it("asks again without being sent what it has", async () => {
    const { page, service } = console;
    await service.startUpgrade(example("cluster-draft"));
    const statuses: number[] = [];
    page.on("response", (answer) => {
      if (answer.url().includes("/v1/upgrades?")) statuses.push(answer.status());
    });
    await page.goto(service.apiUrl);
    await until("an answer was 304", () => statuses.includes(304));
    expect(new Set(statuses)).to.deep.equal(new Set([200, 304]));
  });

  it("has pages", async () => {
    const { page, service } = console;
    const { body } = await service.get<{ elements: unknown[] }>("/v1/upgrades");
    for (let i = body.elements.length; i < 27; i++) await service.startUpgrade(example("cluster-draft"));
    await page.goto(service.apiUrl);
    await page.getByText(/Page 1 of 2/).waitFor();
    await page.getByRole("cell", { name: "fra1-mgmt-cl01" }).first().waitFor();
    await screenshot(page, "console-list");
    expect(await page.locator(".upgrades tbody tr").count()).to.equal(25);
    await expectAccessible(page);
    const isSecond = (request: Request) => request.url().includes("pageNumber=1&pageSize=25");
    await Promise.all([page.waitForRequest(isSecond), page.getByRole("link", { name: "Next page" }).click()]);
    await page.getByText(/Page 2 of 2/).waitFor();
    expect(page.url()).to.contain("page=2");
    await page.getByRole("link", { name: "Previous page" }).click();
    await page.getByText(/Page 1 of 2/).waitFor();
  });
});
