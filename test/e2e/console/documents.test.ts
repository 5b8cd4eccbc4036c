import { resolve } from "node:path";
import { expect } from "chai";
import type { Browser, Page } from "playwright-core";
import { type ApiUnderTest, startApiUnderTest } from "../../unit/api/api-under-test";
import { expectAccessible, wide } from "./accessibility";
import { startChromium } from "./chromium";

const dist = resolve(__dirname, "../../../dist");

describe("the documents in a browser", function () {
  this.timeout(120_000);
  let browser: Browser;
  let api: ApiUnderTest;
  let page: Page;
  const complaints: string[] = [];
  before(async () => {
    browser = await startChromium();
    api = await startApiUnderTest({
      console: { folder: resolve(dist, "console"), temporalNamespace: "default" },
      documents: resolve(dist, "docs"),
    });
    page = await browser.newPage({ viewport: wide });
    page.on("console", (message) => {
      if (message.type() === "error") complaints.push(message.text());
    });
  });
  after(async () => {
    await browser.close();
    await api.close();
  });

  it("are reached from the console, and lead to every page and to the API reference", async () => {
    await page.goto(api.url);
    await page.getByRole("link", { name: "Documents" }).click();
    await page.getByRole("heading", { level: 1, name: "Documentation" }).waitFor();
    await page.getByRole("navigation", { name: "Documents" }).getByRole("link", { name: "Error codes" }).click();
    await page.getByRole("heading", { level: 3, name: "RESOURCE_LOCKED" }).waitFor();
    await page.getByRole("link", { name: "API reference" }).click();
    await page.getByText("/v1/upgrades/preview").waitFor();
    expect(complaints).to.deep.equal([]);
  });

  for (const path of ["", "/error-codes", "/tour", "/architecture", "/decisions/0023-load-shedding"])
    it(`/docs${path} is readable in light and dark, on a wide screen and a phone`, async () => {
      await page.goto(`${api.url}/docs${path}`);
      await expectAccessible(page);
    });

  it("open at the code that an error links to", async () => {
    const link = (await fetch(`${api.url}/nowhere`)).headers.get("link") ?? "";
    await page.goto(api.url + (/<([^>]+)>/.exec(link)?.[1] ?? ""));
    await page.getByRole("heading", { level: 3, name: "PATH_NOT_FOUND" }).waitFor();
    const top: number = await page.evaluate("document.getElementById('PATH_NOT_FOUND').getBoundingClientRect().top");
    expect(top).to.be.within(0, 200);
  });
});
