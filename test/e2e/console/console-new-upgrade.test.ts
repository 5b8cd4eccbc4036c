import { expect } from "chai";
import type { Locator, Page, Request } from "playwright-core";
import type { Cluster } from "../../../src/domain/spec/cluster";
import type { PageOfUpgrade } from "../../../src/domain/spec/upgrade";
import { example } from "../../support/service/examples";
import { expectAccessible, narrow } from "./accessibility";
import { screenshot } from "./chromium";
import { ConsoleUnderTest } from "./console-under-test";
import { hasFocus, pressOn, tabTo } from "./keyboard";

const platform = example("platform");
const hostsOnly = example("cluster-draft");
const heldCluster = "4a6c1a1e-51b2-4d3c-9e0f-000000000008";

describe("the console's form of a new upgrade", function () {
  this.timeout(180_000);
  const console = ConsoleUnderTest.inSuite({ SIMULATOR_HOST_SECONDS: "20" });

  const isStart = (request: Request) => request.method() === "POST" && request.url().endsWith("/v1/upgrades");
  const shownJson = async (page: Page): Promise<unknown> =>
    JSON.parse((await page.getByLabel("As JSON", { exact: true }).textContent()) ?? "");
  const openForm = async () => {
    await console.page.goto(`${console.service.apiUrl}/#/new`);
    await console.page.getByLabel(/^fra1-mgmt-cl01/).waitFor();
  };
  const chooseSimply = async () => {
    await openForm();
    await console.page.getByLabel("Bundle").selectOption(hostsOnly.bundleId);
    await console.page.getByLabel(/^fra1-mgmt-cl01/).check();
    await console.button("Show the plan").click();
    await console.button("Create the draft").waitFor();
  };
  const upgrades = async () => (await console.service.get<PageOfUpgrade>("/v1/upgrades")).body.elements ?? [];

  it("is filled for every product by the keyboard, and sends the draft that it shows", async () => {
    const { page, service } = console;
    await openForm();
    const type = async (target: Locator, text: string) => {
      await tabTo(page, target);
      await page.keyboard.type(text);
    };
    const field = (label: string) => page.getByLabel(label, { exact: true }).locator("visible=true").first();
    const nameOf = async (path: string, id: string) => {
      const { body } = await service.get<{ elements: { id: string; name: string }[] }>(path);
      return body.elements.find((one) => one.id === id)?.name ?? "";
    };
    const open = (panel: string) => pressOn(page, page.locator("summary", { hasText: panel }), "Enter");

    await type(field("Bundle"), "The whole");
    await pressOn(page, page.getByLabel(/^fra1-mgmt-cl01/), "Space");
    await tabTo(page, field("As soon as possible"));
    await page.keyboard.press("ArrowRight");
    const year = new Date().getFullYear() + 1;
    await type(field("Not before"), `1201${year}`);
    await page.keyboard.press("ArrowRight");
    await page.keyboard.type("0930AM");
    await open("Hosts: version");
    await type(field("Version"), "9.0.2");
    await type(field("Which image"), await nameOf("/v1/personalities", "2f6d8a10-7c3e-4b5d-9a01-000000000001"));
    await pressOn(page, console.button("Add a firmware package"), "Enter");
    await type(field("Hardware support manager"), "com.example.firmware");
    await type(field("Package name"), "Catalog");
    await type(field("Package version"), "26.01");
    await type(field("Machines that stay on a host"), "Suspend them to disk");
    for (const label of ["Check hardware compatibility", "Quick boot", "Move machines that are off"])
      await type(field(label), "Yes");
    await type(field("Switch off admission control"), "No");
    await type(field("Then"), "Try again");
    await type(field("How often"), "2");
    await type(field("Seconds between attempts"), "30");
    await open("Network virtualization");
    await pressOn(page, console.button("Add inputs for an instance"), "Enter");
    await type(field("Which instance"), await nameOf("/v1/netvirt", "7b1e40c2-5d0a-4c6e-8f11-000000000001"));
    await type(field("Host clusters in parallel"), "Yes");
    await pressOn(page, page.getByLabel("Upgrade no edge cluster"), "Space");
    await open("Management servers");
    await pressOn(page, console.button("Add inputs for a server"), "Enter");
    await type(field("Which server"), await nameOf("/v1/management-servers", "9c2f51d3-6e1b-4d7f-a022-000000000001"));
    await type(field("How"), "Migration");
    await type(field("Address"), "As given");
    await type(field("IP address"), "10.20.30.40");
    await type(field("Subnet mask"), "255.255.255.0");
    await type(field("Gateway"), "10.20.30.1");
    await pressOn(page, console.button("Show the plan"), "Enter");
    await console.button("Create the draft").waitFor();
    expect(await hasFocus(page.getByRole("heading", { name: "The plan" })), "the focus goes to the plan").to.equal(
      true,
    );
    await expectAccessible(page);

    const expected = {
      bundleId: platform.bundleId,
      resourceType: "CLUSTER",
      draftMode: true,
      resourceUpgradeSpecs: [
        {
          resourceId: "4a6c1a1e-51b2-4d3c-9e0f-000000000034",
          scheduledTimestamp: await page.evaluate(`new Date("${year}-12-01T09:30").toISOString()`),
          toVersion: "9.0.2-0.25148076",
          personalitySpec: {
            personalityId: "2f6d8a10-7c3e-4b5d-9a01-000000000001",
            hardwareSupportSpecs: [
              { name: "com.example.firmware", packageSpec: { name: "Catalog", version: "26.01" } },
            ],
          },
          hostosUpgradeOptionsSpec: {
            preRemediationPowerAction: "SUSPEND_VMS",
            enforceHclValidation: true,
            enableQuickboot: true,
            evacuateOfflineVms: true,
            disableHac: false,
            hostosUpgradeFailureAction: { action: "RETRY", retryCount: 2, retryDelay: 30 },
          },
        },
      ],
      netvirtUpgradeUserInputSpecs: [
        {
          netvirtId: "7b1e40c2-5d0a-4c6e-8f11-000000000001",
          netvirtUpgradeOptions: { isHostClustersUpgradeParallel: true },
          netvirtEdgeClusterUpgradeSpecs: [],
        },
      ],
      mgmtUpgradeUserInputSpecs: [
        {
          resourceId: "9c2f51d3-6e1b-4d7f-a022-000000000001",
          upgradeMechanism: "ReducedDowntimeMigration",
          temporaryNetwork: {
            networkMode: "STATIC",
            ipAddress: "10.20.30.40",
            subnetMask: "255.255.255.0",
            gateway: "10.20.30.1",
          },
        },
      ],
    };
    expect(await shownJson(page)).to.deep.equal(expected);
    expect(await page.locator(".plan > li h3").allInnerTexts()).to.satisfy((steps: string[]) =>
      ["Network virtualization", "Management servers", "Hosts"].every((name, i) => steps[i]?.startsWith(name)),
    );

    const sent = page.waitForRequest(isStart);
    await pressOn(page, console.button("Create the draft"), "Enter");
    const request = await sent;
    expect(request.postDataJSON()).to.deep.equal(expected);
    expect(request.headers()["idempotency-key"]).to.match(/^[\da-f]{32}$/);
    await page.locator(".headline .badge").waitFor();
    const id = /#\/upgrades\/(.+)$/.exec(page.url())?.[1] ?? "";
    const { body } = await service.get<Record<string, unknown>>(`/v1/upgrades/${id}`);
    expect(body["resourceUpgradeSpecs"]).to.deep.equal(expected.resourceUpgradeSpecs);
  });

  it("is filled as an earlier upgrade was asked for, whose plan the page of a draft shows again", async () => {
    const { page, service } = console;
    const earlier = await service.startUpgrade({
      ...hostsOnly,
      resourceUpgradeSpecs: [
        { resourceId: heldCluster, scheduledTimestamp: `${new Date().getFullYear() + 1}-01-01T00:00:00Z` },
      ],
    });
    await console.open(earlier);
    const plan = page.getByRole("region", { name: "The plan" });
    await plan
      .getByText(/fra1-prod-cl01 to 9\.0\.2/)
      .last()
      .waitFor();
    expect(await plan.innerText())
      .to.match(/Hosts\s+\d+ to upgrade/)
      .and.match(/Now on\s+9\.0/)
      .and.contain("not before");
    await expectAccessible(page);
    await page.getByRole("link", { name: "New upgrade like this" }).click();
    await page.getByText(/^Filled as .* was asked for/).waitFor();
    expect(await shownJson(page)).to.deep.equal({
      ...hostsOnly,
      resourceUpgradeSpecs: [{ resourceId: heldCluster, upgradeNow: true }],
    });
    await page.getByLabel(/^fra1-mgmt-cl01/).check();
    await page.getByText(/^Clusters \(2 chosen, \d+ hosts\)$/).waitFor();
    await page.getByLabel("Same as an earlier upgrade").selectOption(earlier.id);
    await page.getByText(/^Clusters \(1 chosen, \d+ hosts?\)$/).waitFor();
    await console.button("Show the plan").click();
    await console.button("Create the draft").waitFor();
    await page.locator(".waves summary").first().click();
    await page.getByText(/^Wave 1: fra1-prod-cl01: \S+/).waitFor();
    await expectAccessible(page);
  });

  it("starts nothing twice, neither by a double click nor after an answer that was lost", async () => {
    const { page } = console;
    const before = (await upgrades()).length;
    await chooseSimply();
    let starts = 0;
    await page.route("**/v1/upgrades", async (route, request) => {
      if (!isStart(request)) return route.continue();
      starts += 1;
      if (starts > 1) return route.continue();
      await route.fetch();
      return route.abort();
    });
    await console.button("Create the draft").dblclick();
    await page.getByRole("alert").getByText("The API does not answer.").waitFor();
    expect([starts, (await upgrades()).length - before]).to.deep.equal([1, 1]);
    await console.button("Create the draft").click();
    await page.locator(".headline .badge").waitFor();
    expect([starts, (await upgrades()).length - before]).to.deep.equal([2, 1]);
    await page.goto(`${console.service.apiUrl}/#/new`);
    expect(await page.getByLabel("Bundle").inputValue(), "the form is empty afterwards").to.equal("");
  });

  it("says what holds a cluster, and keeps what is filled in while one looks at that", async () => {
    const { page, service } = console;
    const { id } = await service.startUpgrade({
      ...hostsOnly,
      draftMode: false,
      resourceUpgradeSpecs: [{ resourceId: heldCluster }],
    });
    await service.taskWhen(id, "runs", ({ status }) => status === "In Progress");
    await openForm();
    await page.getByLabel("Bundle").selectOption(hostsOnly.bundleId);
    await page.getByText(`Locked until upgrade fra1-prod-cl01 to 9.0.2 (${id}) ends.`).waitFor();
    expect(await page.getByLabel(/^fra1-prod-cl01/).isDisabled()).to.equal(true);
    await page.getByRole("link", { name: "Show that upgrade" }).click();
    await page.waitForURL(`**/#/upgrades/${id}`);
    await page.goBack();
    await page.getByLabel(/^fra1-prod-cl01/).waitFor();
    expect(await page.getByLabel("Bundle").inputValue()).to.equal(hostsOnly.bundleId);
  });

  it("does not take half a time for none", async () => {
    const { page } = console;
    await openForm();
    await page.getByLabel("Bundle").selectOption(platform.bundleId);
    await page.getByLabel(/^fra1-mgmt-cl01/).check();
    await page.locator("summary", { hasText: "Management servers" }).click();
    await console.button("Add inputs for a server").click();
    const switchover = page.getByLabel("Earliest switchover");
    await switchover.focus();
    await page.keyboard.type("1224");
    await console.button("Show the plan").click();
    await page.getByRole("alert").getByText("Choose a date and a time.").waitFor();
    expect(await hasFocus(switchover)).to.equal(true);
    await switchover.fill("");
    await switchover.blur();
    await console.button("Show the plan").click();
    await console.button("Create the draft").waitFor();
  });

  it("takes over a pasted request, and shows each refusal of the service at its field", async () => {
    const { page } = console;
    await page.setViewportSize(narrow);
    await openForm();
    const [cluster] = platform.resourceUpgradeSpecs;
    const past = {
      ...platform,
      draftmode: true,
      resourceUpgradeSpecs: [
        { resourceId: cluster?.resourceId, toVersion: "8.0", scheduledTimestamp: "2020-01-01T00:00:00Z" },
      ],
    };
    await page.locator("summary", { hasText: "Fill the form from JSON" }).click();
    await page.getByLabel("Request as JSON").fill("{");
    await console.button("Fill the form").click();
    await page.getByText(/This is not JSON/).waitFor();
    await page.getByLabel("Request as JSON").fill(JSON.stringify(past));
    await console.button("Fill the form").click();
    await page.getByText(/fields that the interface does not know: draftmode/).waitFor();

    await console.button("Show the plan").click();
    const time = page.getByLabel("Not before", { exact: true });
    await page.locator("input[type=datetime-local]:focus").waitFor();
    expect(await hasFocus(time), "the first wrong field has the focus").to.equal(true);
    expect(await described(time)).to.contain("has passed");
    const version = page.getByLabel("Version", { exact: true });
    expect(await described(version)).to.contain("does not offer version 8.0");
    expect(await version.locator("option:checked").innerText()).to.equal("8.0 (not in the list)");
    await expectAccessible(page);
    await screenshot(page, "console-refused");

    await page.getByLabel("As soon as possible").check();
    expect(await described(version), "the other problem stays").to.contain("does not offer version 8.0");
    await page.getByRole("alert").getByRole("button").click();
    expect(await hasFocus(version), "the summary leads to the field").to.equal(true);
    await version.selectOption("");
    await console.button("Show the plan").click();
    await console.button("Start the upgrade").waitFor();
    await page.getByText(/This is not a draft/).waitFor();
    await expectAccessible(page);
  });

  it("chooses hosts of a cluster by their names, leaves out clusters that fail, and asks for a rollout", async () => {
    const { page, service } = console;
    const cluster = "4a6c1a1e-51b2-4d3c-9e0f-000000000034";
    const { body } = await service.get<Cluster>(`/v1/clusters/${cluster}`);
    const [first = "", second = ""] = (body.hosts ?? []).map(({ fqdn }) => fqdn);
    await openForm();
    await page.getByLabel("Bundle").selectOption(hostsOnly.bundleId);
    await page.getByLabel(/^fra1-mgmt-cl01/).check();
    const fold = page.locator("summary", { hasText: "All its hosts" });
    await pressOn(page, fold, "Enter");
    const hosts = page.getByRole("group", { name: "Hosts of fra1-mgmt-cl01" });
    await hosts.getByLabel("All but these").check();
    await console.button("Show the plan").click();
    await page.getByRole("alert").getByText("Choose at least one host, or all.").waitFor();
    await hosts.getByLabel(first).check();
    await page.locator("summary", { hasText: "Without 1 host" }).waitFor();
    await page.getByText(`Clusters (1 chosen, ${(body.hosts?.length ?? 0) - 1} hosts)`).waitFor();
    await expectAccessible(page);
    await hosts.getByLabel("Only these").check();
    await hosts.getByLabel(second).check();
    await page.getByLabel("Leave out clusters that fail their prechecks").check();

    await page.locator("summary", { hasText: "Hosts: version" }).click();
    await page.getByLabel("Hosts at once").fill("2");
    await page.getByLabel("Seconds between hosts").fill("60");
    await page.getByLabel("Hosts that may fail").fill("50%");
    await console.button("Show the plan").click();
    // By the policy one host goes after another, and none may fail.
    const atOnce = page.getByLabel("Hosts at once");
    await page
      .getByText(/limits hostsAtOnce to at most 1;/)
      .first()
      .waitFor();
    expect(await hasFocus(atOnce), "the first refused field has the focus").to.equal(true);
    expect(await described(atOnce)).to.contain("at most 1");
    expect(await described(page.getByLabel("Hosts that may fail"))).to.contain("asks for 50%");
    await expectAccessible(page);
    await atOnce.fill("1");
    await page.getByLabel("Hosts that may fail").fill("0");
    await console.button("Show the plan").click();
    await console.button("Create the draft").waitFor();
    const asked = {
      ...hostsOnly,
      onPrecheckFailure: "SKIP_RESOURCE",
      resourceUpgradeSpecs: [
        {
          resourceId: cluster,
          upgradeNow: true,
          rollout: { hostsAtOnce: 1, soakSeconds: 60, toleratedFailures: 0 },
          hosts: { include: [first, second] },
        },
      ],
    };
    expect(await shownJson(page)).to.deep.equal(asked);
    await console.button("Create the draft").click();
    await page.locator(".headline .badge").waitFor();
    for (const words of [`Only the hosts ${first} and ${second}`, "Rollout: Seconds between hosts: 60"])
      await page.getByText(words).first().waitFor({ state: "attached" });

    await page.getByRole("link", { name: "New upgrade like this" }).click();
    await page.getByText(/^Filled as .* was asked for/).waitFor();
    expect(await shownJson(page)).to.deep.equal(asked);
    await page.locator("summary", { hasText: "Only 2 hosts" }).click();
    expect(await hosts.getByLabel(second).isChecked()).to.equal(true);
  });

  it("shows hosts of a pasted request that the cluster does not have, each where it is", async () => {
    const { page } = console;
    await page.setViewportSize(narrow);
    await openForm();
    const resourceUpgradeSpecs = [
      { resourceId: "4a6c1a1e-51b2-4d3c-9e0f-000000000034", hosts: { exclude: ["esx-99.example.com"] } },
    ];
    await page.locator("summary", { hasText: "Fill the form from JSON" }).click();
    await page.getByLabel("Request as JSON").fill(JSON.stringify({ ...hostsOnly, resourceUpgradeSpecs }));
    await console.button("Fill the form").click();
    await page.locator("summary", { hasText: "Without 1 host" }).waitFor();
    await console.button("Show the plan").click();
    const unknown = page.getByLabel("esx-99.example.com");
    await page
      .getByText(/has no host esx-99\.example\.com/)
      .first()
      .waitFor();
    expect(await hasFocus(unknown)).to.equal(true);
    expect(await described(unknown))
      .to.contain("not in the cluster")
      .and.to.contain("has no host");
    await expectAccessible(page);
    await unknown.click();
    await unknown.waitFor({ state: "detached" });
    expect(await hasFocus(page.getByRole("list", { name: "All but these" })), "the focus is not lost").to.equal(true);
    await page.getByRole("radio", { name: "All", exact: true }).check();
    await console.button("Show the plan").click();
    await page.getByRole("heading", { name: "The plan" }).waitFor();
  });

  /** The texts that describe an input to a screen reader. */
  async function described(input: Locator): Promise<string> {
    const ids = (await input.getAttribute("aria-describedby"))?.split(" ") ?? [];
    const texts = ids.map((id) => console.page.locator(`[id="${id}"]`).innerText());
    return (await Promise.all(texts)).join(" ");
  }
});
