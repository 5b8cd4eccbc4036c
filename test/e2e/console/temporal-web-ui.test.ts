import { expect } from "chai";
import type { Browser, Frame, Page } from "playwright-core";
import type { Upgrade } from "../../../src/domain/spec/upgrade";
import { example, exampleNow } from "../../support/service/examples";
import { hostsOf, ServiceUnderTest, until } from "../../support/service/service-under-test";
import { screenshot, startChromium } from "./chromium";

const publicUrl = "https://upgrades.example.com";
const cluster = `cluster/4a6c1a1e-51b2-4d3c-9e0f-000000000034`;

describe("what an operator sees in the Temporal Web UI", function () {
  this.timeout(180_000);
  let service: ServiceUnderTest;
  let browser: Browser;
  let page: Page;

  before(async () => {
    browser = await startChromium();
    service = await ServiceUnderTest.start({ SIMULATOR_HOST_SECONDS: "6", PUBLIC_URL: publicUrl });
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

  /** Where the metadata link to. */
  const consoleLinks = async () => {
    const frames = page.frames().filter((one) => one !== page.mainFrame());
    const links = await Promise.all(frames.map((frame) => frame.locator("a").all()));
    return Promise.all(links.flat().map((link) => link.getAttribute("href")));
  };
  const sendSignal = async () => {
    await page.getByRole("button", { name: "More Actions" }).click();
    await page.getByRole("menuitem", { name: "Send a Signal" }).click();
    return page.getByRole("dialog", { name: "Send a Signal" });
  };

  it("a draft: what it waits for, and the Signals that it takes, each described", async () => {
    const { id } = await service.startUpgrade(example("cluster-draft"));
    await until("the draft is ready", async () => {
      const { body } = await service.get<Upgrade>(`/v1/upgrades/${id}`);
      return body.phase === "DRAFT_READY";
    });
    await open(`/${id}`);
    await seesMetadata(/Draft, ready \(DRAFT\)/, /starts when it is committed/, /commit: starts it/, /prechecks: runs/);
    const dialog = await sendSignal();
    // The field is that of a menu, and takes no input itself.
    await dialog.getByTestId("signal-select").click({ force: true });
    await dialog.getByText(/Commits a draft, or work that missed its start/).waitFor();
    await dialog.getByText(/Starts no more hosts; hosts in work finish/).waitFor();
    for (const internal of ["hosts", "record"])
      expect(await dialog.getByText(internal, { exact: true }).count(), internal).to.equal(0);
    await screenshot(page, "temporal-signals");
    await service.withTemporal((client) => client.workflow.getHandle(id).cancel());
    await service.taskWhen(id, "is cancelled", ({ status }) => status === "Cancelled");
  });

  it("a running upgrade: summary, phase with hosts done, and readable steps of its cluster", async () => {
    const { id } = await service.startUpgrade(exampleNow("cluster-draft"));
    await service.taskWhen(id, "has its second host in work", (task) => hostsOf(task)[1]?.status === "IN_PROGRESS");
    await open(`/${id}`);
    await sees("fra1-mgmt-cl01: prechecks");
    await seesMetadata(
      /^Upgrade fra1-mgmt-cl01 to 9\.0\.2/,
      /Running \(INPROGRESS\) since/,
      /Hosts: [0-3] of 4 done, 0 failed/,
      /In work: fra1-mgmt-cl01\./,
      /pause: starts no more hosts/,
      /--name pause \\\s+--workflow-id [0-9a-f-]{36} \\\s+--address 127\.0\.0\.1:\d+ --namespace default/,
    );
    expect(await consoleLinks()).to.deep.equal([`${publicUrl}/#/upgrades/${id}`]);
    await screenshot(page, "temporal-running-upgrade");

    await open(`/${encodeURIComponent(cluster)}`);
    await sees("fra1-esx-02.mgmt.example.com: remediate");
    await page.getByRole("heading", { name: "Event History", exact: true }).hover();
    await page.mouse.wheel(0, 500);
    await screenshot(page, "temporal-running-cluster");
    await seesMetadata(/Upgrading hosts/, /In work: fra1-esx-0\d/, /Part of upgrade/, /not this Workflow/);
    expect(await consoleLinks()).to.deep.equal([`${publicUrl}/#/upgrades/${id}`]);
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
      /Needs you \(COMPLETED_WITH_FAILURE\)/,
      /waits for a decision until/,
      /resolve: gives it up/,
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

  it("upgrades and their clusters are found by status and name, and are known by their columns", async () => {
    const query = [
      "`ClusterNames`='fra1-mgmt-cl01'",
      "(`UpgradeStatus`='COMPLETED_WITH_FAILURE' OR `WorkflowType`='clusterUpgradeWorkflow')",
      "`BundleId`='7d1c1f6e-3a52-4f0e-9c11-5c0a90020002'",
      "`ResourceIds`='4a6c1a1e-51b2-4d3c-9e0f-000000000034'",
      "`ExecutionStatus`!='Completed'",
    ].join(" AND ");
    await open(`?query=${encodeURIComponent(query)}`);
    await page.locator("table tbody tr", { hasText: cluster }).first().waitFor();
    await setColumns(
      ["ClusterNames", "TargetVersion", "UpgradePhase", "StartsAt", "RequestedBy"],
      ["Run ID", "Type", "Start", "End"],
    );
    await page.getByLabel("Collapse saved views").click();
    const upgrade = page.locator("table tbody tr", { hasText: "ACTION_REQUIRED" });
    expect(await upgrade.count()).to.equal(1);
    for (const shown of ["fra1-mgmt-cl01", "9.0.2", "dev"])
      expect(await upgrade.getByText(shown, { exact: true }).count(), shown).to.equal(1);
    const failed = page.locator("table tbody tr", { hasText: cluster }).first();
    expect(await failed.getByText("fra1-mgmt-cl01", { exact: true }).count()).to.equal(1);
    expect(await failed.innerText())
      .to.contain("9.0.2-0.25148076")
      .and.to.match(/20\d\d-\d\d-\d\d/);
    // A click that is only tried waits until nothing moves any more.
    await upgrade.getByText("fra1-mgmt-cl01", { exact: true }).click({ trial: true });
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
