import { expect } from "chai";
import type { Browser, Frame, Page } from "playwright-core";
import { exampleNow } from "../../support/service/examples";
import { hostsOf, ServiceUnderTest, until } from "../../support/service/service-under-test";
import { screenshot, startChromium } from "./chromium";

describe("what an operator sees in the Temporal Web UI", function () {
  this.timeout(180_000);
  let service: ServiceUnderTest;
  let browser: Browser;
  let page: Page;

  before(async () => {
    browser = await startChromium();
    service = await ServiceUnderTest.start({ SIMULATOR_HOST_SECONDS: "6" });
    page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    page.setDefaultTimeout(20_000);
  });
  after(async () => {
    await browser.close();
    await service.discard();
  });

  /** Opens the tab "User Metadata", whose Markdown the page shows in frames of its own, and waits for texts in it. */
  const seesMetadata = async (...texts: RegExp[]) => {
    await page.getByText("User Metadata").click();
    await until(`the metadata say ${texts.join(" and ")}`, async () => {
      const shown = await Promise.all(
        page.frames().map((frame) =>
          frame
            .locator("body")
            .innerText()
            .catch(() => ""),
        ),
      );
      return texts.every((text) => shown.some((one) => text.test(one)));
    });
    for (const frame of page.frames().filter((one) => one !== page.mainFrame()))
      expect(await cutOff(frame), "is cut off").to.deep.equal([]);
  };
  const open = (path: string) => page.goto(`${service.temporalUiUrl}/namespaces/default/workflows${path}`);
  const sees = (text: string | RegExp) => page.getByText(text).first().waitFor();

  it("a running upgrade: summary, phase with hosts done, and readable steps of its cluster", async () => {
    const { id } = await service.startUpgrade(exampleNow("cluster-draft"));
    await service.taskWhen(id, "has its second host in work", (task) => hostsOf(task)[1]?.status === "IN_PROGRESS");
    await open(`/${id}`);
    await sees("fra1-mgmt-cl01: prechecks");
    await seesMetadata(/^Upgrade fra1-mgmt-cl01 to 9\.0\.2/, /Running \(INPROGRESS\)/, /Hosts: 1 of 4 done, 0 failed/);
    await screenshot(page, "temporal-running-upgrade");

    await open(`/${encodeURIComponent("cluster/4a6c1a1e-51b2-4d3c-9e0f-000000000034")}`);
    await sees("fra1-esx-02.mgmt.example.com: remediate");
    await page.getByRole("heading", { name: "Event History", exact: true }).hover();
    await page.mouse.wheel(0, 500);
    await screenshot(page, "temporal-running-cluster");
    await seesMetadata(/Upgrading hosts/);
    await service.taskWhen(id, "is successful", ({ status }) => status === "Successful");
  });

  it("a failed upgrade: the error and what can be done", async () => {
    await service.resetSimulator();
    await service.fault({
      kind: "REMEDIATION_FAILS",
      host: "fra1-esx-02.mgmt.example.com",
      message: "bootbank is too small",
    });
    const { id } = await service.startUpgrade(exampleNow("cluster-draft"));
    await service.taskWhen(id, "has failed", ({ status }) => status === "Failed");
    await open(`/${id}`);
    await seesMetadata(
      /Failed, waiting for a decision/,
      /Last error: .*fra1-esx-02/,
      /--name retry \\\s+--workflow-id [0-9a-f-]{36}\b/,
    );
    await screenshot(page, "temporal-failed-upgrade");
  });

  /** Adds and removes columns of the list of Workflows, as README says. */
  const setColumns = async (added: readonly string[], removed: readonly string[]) => {
    await page.getByTestId("workflows-summary-table-configuration-button").click();
    for (const name of added) await page.getByTestId(`orderable-list-item-${name}-add-button`).click();
    for (const name of removed) await page.getByTestId(`orderable-list-item-${name}-remove-button`).click();
    await page.getByTestId("drawer-close-button").click();
    await page.getByText("Configure Workflows Table").waitFor({ state: "hidden" });
  };

  it("upgrades are found by status, bundle and cluster, and shown with them", async () => {
    const query = [
      "`UpgradeStatus`='COMPLETED_WITH_FAILURE'",
      "`BundleId`='7d1c1f6e-3a52-4f0e-9c11-5c0a90020002'",
      "`ResourceIds`='4a6c1a1e-51b2-4d3c-9e0f-000000000034'",
    ].join(" AND ");
    await open(`?query=${encodeURIComponent(query)}`);
    const rows = page.locator("table tbody tr", { hasText: "upgradeWorkflow" });
    await rows.first().waitFor();
    expect(await rows.count()).to.equal(1);
    await setColumns(["UpgradeStatus", "ResourceIds"], ["Run ID", "Type", "Start", "End"]);
    await page.getByLabel("Collapse saved views").click();
    const row = page.locator("table tbody tr", { hasText: "COMPLETED_WITH_FAILURE" });
    // A click that is only tried waits until nothing moves any more.
    await row.getByText("4a6c1a1e-51b2-4d3c-9e0f-000000000034").click({ trial: true });
    await screenshot(page, "temporal-list");
  });
});

/** The texts of a frame that end below its lower edge, and so cannot be read. */
async function cutOff(frame: Frame): Promise<string[]> {
  const edge = bottomOf(await (await frame.frameElement()).boundingBox());
  const texts = await frame.locator("p, pre, li").all();
  const bottoms = await Promise.all(texts.map(async (text) => bottomOf(await text.boundingBox())));
  const contents = await Promise.all(texts.map((text) => text.innerText()));
  return contents.filter((content, i) => content.trim() !== "" && (bottoms[i] ?? 0) > edge);
}

function bottomOf(box: { readonly y: number; readonly height: number } | null): number {
  return box ? box.y + box.height : 0;
}
