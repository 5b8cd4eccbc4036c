import { expect } from "chai";
import { exampleNow } from "../../support/service/examples";
import { expectAccessible } from "./accessibility";
import { screenshot } from "./chromium";
import { ConsoleUnderTest } from "./console-under-test";

describe("the operators' console", function () {
  this.timeout(180_000);
  const console = ConsoleUnderTest.inSuite({});

  it("leads from the form of a new upgrade over its plan to the end of the upgrade", async () => {
    const { page, service } = console;
    await page.goto(service.apiUrl);
    await page.getByRole("link", { name: "New upgrade" }).last().click();
    await page.getByLabel("Bundle").selectOption(exampleNow("cluster-draft").bundleId);
    await page.getByLabel(/^fra1-mgmt-cl01/).check();
    await expectAccessible(page);
    await screenshot(page, "console-new-upgrade");
    await console.button("Show the plan").click();
    await page
      .getByText(/fra1-mgmt-cl01 to 9\.0\.2/)
      .last()
      .waitFor();
    await expectAccessible(page);
    await console.button("Create the draft").click();
    await console.button("Commit").waitFor();
    await console.confirm("Commit");
    await console.badge("Successful");
    const activity = page.getByRole("list", { name: "Activity" });
    await activity.getByText("Upgrade succeeded").waitFor();
    expect(
      (await activity.getByRole("listitem").allInnerTexts()).map((text) => text.split("\n").slice(1).join(" ")),
    ).to.deep.equal([
      "Upgrade succeeded",
      "fra1-mgmt-cl01: done, 4 of 4 hosts at the target, 0 failed",
      "Work started",
      "dev (HTTP): Commit – accepted",
      "Prechecks passed",
      "dev (HTTP): Create, as a draft – accepted",
    ]);
    await expectAccessible(page);
    await page.getByRole("link", { name: "Upgrades", exact: true }).click();
    await page
      .getByRole("row", { name: /Successful.*fra1-mgmt-cl01/ })
      .first()
      .waitFor();
  });
});
