import { resolve } from "node:path";
import { expect } from "chai";
import * as TE from "fp-ts/TaskEither";
import type { Browser, Page } from "playwright-core";
import type { SubTask, Task } from "../../../src/domain/spec/task";
import type { Upgrade } from "../../../src/domain/spec/upgrade";
import { answeredStage } from "../../../src/domain/task/check-stages";
import { checksSubTask, withChecks } from "../../../src/domain/task/own-checks";
import type { TaskEvent } from "../../../src/upgrades/task-history";
import { type ApiUnderTest, startApiUnderTest } from "../../unit/api/api-under-test";
import {
  at,
  cluster,
  doneHost,
  failedHost,
  part,
  runningHost,
  stage,
  task,
  waitingHost,
} from "../../unit/console/console-task";
import { sampleCheck } from "../../support/sample-plan";
import { expectAccessible, wide } from "./accessibility";
import { startChromium } from "./chromium";
import { tabTo } from "./keyboard";

const error = (message: string, errorCode: string) => ({
  message,
  errorCode,
  remediationMessage: "Mend it, then retry.",
});
const noRoom = error("Host esx-3: bootbank is too small", "HOST_REMEDIATION_FAILED");
const failing: SubTask = {
  ...failedHost("esx-3", 4800, noRoom.message),
  errors: [noRoom],
  stages: [{ ...stage("FAILED", 4800), errors: [noRoom] }],
  attempt: 2,
  maximumAttempts: 3,
};
const checks = (status: "FAILED" | "SUCCESSFUL", name: string): SubTask =>
  part("PRECHECKS", status, {
    name,
    completionTimestamp: at(30),
    subTasks: [
      part("CLUSTER_PRECHECKS", status, {
        resources: [{ resourceId: "fra1-prod", name: "fra1-prod" }],
        stages: [
          { ...stage("SUCCESSFUL", 1), name: "Cluster health" },
          {
            ...stage(status, 2),
            name: "Free space",
            ...(status === "FAILED" && { errors: [error("Host esx-1 has 1 GiB left", "PRECHECK_SPACE")] }),
          },
        ],
      }),
    ],
  });

/** Two clusters: of eight hosts one has failed, one is in work and five are done. */
const shown: Task = task(
  [
    cluster(
      "FAILED",
      [doneHost("esx-1", 60, 2400), doneHost("esx-2", 2400, 4800), failing, waitingHost("esx-10")],
      "fra1-prod",
    ),
    cluster(
      "IN_PROGRESS",
      [
        doneHost("esx-21", 60, 1900),
        doneHost("esx-22", 1900, 3500),
        doneHost("esx-23", 3500, 5000),
        { ...runningHost("esx-24", 5000), progressPercent: 40, attempt: 1, maximumAttempts: 3 },
      ],
      "fra1-test",
    ),
  ],
  {
    name: "Upgrade fra1-prod and fra1-test to 9.0.2",
    errors: [noRoom],
    warnings: [{ code: "UNKNOWN_FIELD", message: "The field resourceUpgradeSpecs[0].typo is not known." }],
  },
);
shown.subTasks = [
  checks("FAILED", "Prechecks"),
  checks("SUCCESSFUL", "Prechecks, run 2"),
  ...(shown.subTasks ?? []).slice(1),
];

const upgrade: Upgrade = {
  id: shown.id,
  name: shown.name,
  phase: "RUNNING",
  status: "INPROGRESS",
  since: at(60),
  createdAt: at(0),
  createdBy: "jane",
  committedAt: at(50),
  committedBy: "bob",
  startedAt: at(60),
  workSeconds: 3000,
  beginsAt: "2036-12-03T03:00:00.000Z",
  expectedEnd: "2036-12-03T04:00:00.000Z",
  versions: [{ product: "HOSTOS", from: ["9.0.0"], to: ["9.0.2"] }],
  hostVersions: [
    { version: "9.0.0", hosts: 3 },
    { version: "9.0.2", hosts: 5 },
  ],
  resourceUpgradeSpecs: ["fra1-prod", "fra1-test"].map((resourceId) => ({
    resourceId,
    hostosUpgradeOptionsSpec: { enableQuickboot: true },
  })),
};

describe("the console's page of one upgrade", function () {
  this.timeout(60_000);
  const folder = resolve(__dirname, "../../../dist/console");
  let browser: Browser;
  let api: ApiUnderTest;
  let page: Page;
  before(async () => (browser = await startChromium()));
  after(() => browser.close());
  const serve = async (of: Upgrade, itsTask: Task) => {
    const quiet = new Promise<TaskEvent>(() => undefined);
    api = await startApiUnderTest({
      console: { folder, temporalNamespace: "default" },
      service: {
        getUpgrade: () => TE.right(of),
        watchTask: () => {
          const events: TaskEvent[] = [{ type: "SNAPSHOT", id: "1.1", task: itsTask }];
          return TE.right({ taskId: itsTask.id, next: async () => events.shift() ?? quiet, leave: () => undefined });
        },
      },
    });
    page = await browser.newPage({ viewport: wide, timezoneId: "Asia/Kolkata" });
    page.setDefaultTimeout(10_000);
    await page.goto(`${api.url}/#/upgrades/${itsTask.id}`);
  };
  beforeEach(async () => {
    await serve(upgrade, shown);
    await page.getByText("5 of 8", { exact: true }).waitFor();
    await page.getByText("by bob").waitFor();
  });
  afterEach(async () => {
    await page.close();
    await api.close();
  });

  const table = () => page.getByRole("grid", { name: "Hosts" });
  const hosts = async () => (await table().locator(".host-all .host-host").allInnerTexts()).join(" ");

  it("says all facts at its top, and names the tab after the upgrade until another page is opened", async () => {
    const facts = await page.getByRole("region", { name: "Facts of the upgrade" }).innerText();
    expect(facts)
      .to.match(/Created\s+1 Dec, 14:30 by jane/)
      .and.match(/Next start\s+3 Dec 2036, 08:30:00 GMT\+5:30 \(2036-12-03 03:00:00 UTC\), in \d+ d \d+ h/)
      .and.match(/Worked\s+50 min/)
      .and.match(/Versions\s+9\.0\.0 → 9\.0\.2/)
      .and.match(/Now\s+3 hosts on 9\.0\.0, 5 hosts on 9\.0\.2/)
      .and.contain(shown.id);
    await page.getByText("Requested options").click();
    await page.getByText("How hosts are upgraded: Quick boot: yes").waitFor();
    expect(await page.title()).to.equal("5/8 fra1-prod and fra1-test to 9.0.2");
    await expectAccessible(page);
    await page.getByRole("navigation", { name: "Breadcrumb" }).getByRole("link").click();
    await page.getByRole("heading", { level: 1, name: "Upgrades" }).waitFor();
    // With how many need somebody before it.
    expect(await page.title()).to.match(/^(\(\d+\) )?Upgrades$/);
  });

  it("shows hosts in a table that is searched, filtered and sorted by keys", async () => {
    expect(await hosts()).to.match(/^esx-3 esx-24 esx-10 esx-1 /);
    const failed = table().getByRole("row", { name: /Failed esx-3/ });
    expect(await failed.innerText())
      .to.contain("2 of 3")
      .and.contain("fra1-prod")
      .and.contain("Remediate");
    const running = table().getByRole("row", { name: /Running esx-24/ });
    expect(await running.innerText()).to.contain("40 %");
    await tabTo(page, table().getByRole("button", { name: "Host", exact: true }));
    await page.keyboard.press("Enter");
    await table().getByRole("columnheader", { name: "Host" }).and(page.locator("[aria-sort=ascending]")).waitFor();
    expect(await hosts()).to.equal("esx-1 esx-2 esx-3 esx-10 esx-21 esx-22 esx-23 esx-24");
    await page.keyboard.press("Enter");
    await page.locator("[aria-sort=descending]").waitFor();
    expect(await hosts()).to.match(/^esx-24 .* esx-1$/);
    await tabTo(page, table());
    await page.keyboard.press("End");
    await page.keyboard.press("ArrowUp");
    const active = table().locator(".host-row.active");
    expect(await active.innerText()).to.contain("esx-2");
    expect(await table().getAttribute("aria-activedescendant")).to.equal(await active.getAttribute("id"));
    await page.keyboard.press("Enter");
    await page.locator(".tree-row.active").getByText("esx-2", { exact: true }).waitFor();
    await page.getByLabel("Search hosts").fill("fra1-prod");
    await page.getByText("4 of 8 hosts", { exact: true }).waitFor();
    await page.getByLabel("Status of hosts").selectOption("DONE");
    await page.getByText("2 of 8 hosts", { exact: true }).waitFor();
    expect(await hosts()).to.equal("esx-2 esx-1");
    await expectAccessible(page);
  });

  it("tells an error once, at its host, with links to it and to what is known of its code", async () => {
    await page.getByRole("treeitem").getByText(noRoom.message).first().waitFor();
    const told = page.getByText(noRoom.message, { exact: true });
    expect(await told.count()).to.equal(1);
    const summary = page.getByRole("region", { name: "What went wrong" });
    const code = summary.getByRole("link", { name: "HOST_REMEDIATION_FAILED" });
    expect(await code.getAttribute("href")).to.equal("/docs/error-codes#HOST_REMEDIATION_FAILED");
    await tabTo(page, page.getByRole("tree"));
    await page.keyboard.press("Home");
    await page.keyboard.press("ArrowLeft");
    await told.waitFor({ state: "detached" });
    await summary.getByRole("button", { name: "esx-3" }).click();
    await page.locator(".tree-row.active").getByText("esx-3").waitFor();
    await told.waitFor();
    expect(await page.evaluate("document.activeElement.getAttribute('role')")).to.equal("tree");
  });

  it("shows prechecks by themselves, the latest run first, and each check on demand", async () => {
    const section = page.getByRole("region", { name: "Prechecks" });
    expect(await section.innerText())
      .to.match(/Prechecks, run 2: 2 checks passed, 0 failed[^]*Prechecks: 1 check passed, 1 failed/)
      .and.not.contain("Host esx-1 has 1 GiB left");
    expect(await page.getByRole("treeitem", { name: /Prechecks/ }).count()).to.equal(0);
    await section.getByText("Prechecks, run 2: all checks").click();
    await section.getByText("Free space").waitFor();
    await section.getByText("Prechecks: all checks", { exact: true }).click();
    await section.getByText("Host esx-1 has 1 GiB left").waitFor();
    await expectAccessible(page);
  });

  it("shows times in the zone of the browser, in UTC or by how far away they are, and remembers which", async () => {
    const facts = page.getByRole("region", { name: "Facts of the upgrade" });
    const axis = page.locator(".ticks");
    expect(await axis.innerText()).to.contain("15:00");
    await page.getByLabel("Show times as").selectOption("UTC");
    await facts.getByText("09:00 UTC").first().waitFor();
    expect(await axis.innerText())
      .to.contain("09:30")
      .and.not.contain("15:00");
    await page.getByLabel("Show times as").selectOption("RELATIVE");
    await facts.getByText(/ago by jane|in \d+ .* by jane/).waitFor();
    expect(await axis.innerText()).to.contain("+30 min");
    await page.reload();
    await facts.getByText(/ago by jane|in \d+ .* by jane/).waitFor();
    expect(await page.getByLabel("Show times as").inputValue()).to.equal("RELATIVE");
  });

  it("says which own check has paused the upgrade, and what whoever resumes it accepts", async () => {
    const [slo, board] = [sampleCheck("slo", { onFailure: "PAUSE" }), sampleCheck("board")];
    const asked = checksSubTask([slo, board], at(0));
    const [first = expect.fail(), second = expect.fail()] = asked.stages ?? [];
    const answer = { verdict: "FAILED", text: "3 alerts active." } as const;
    const checksPart = {
      ...asked,
      status: "IN_PROGRESS" as const,
      stages: [answeredStage(first, slo, answer, at(1)), second],
    };
    const localizableDescriptionPack = {
      ...{ component: "upgrade-management-service", messageKey: "upgrade.task.paused", arguments: [] },
      message: "The upgrade is paused.",
    };
    const waiting = task([cluster("PENDING", [waitingHost("esx-1")], "fra1-prod")], { localizableDescriptionPack });
    await page.close();
    await api.close();
    await serve({ ...upgrade, phase: "PAUSED", status: "PAUSED" }, withChecks(waiting, checksPart));
    const words = "Check slo did not pass: 3 alerts active.";
    await page.getByText(`${words} The upgrade continues when it is resumed.`).waitFor();
    const summary = page.getByRole("region", { name: "What went wrong" });
    await summary.getByRole("button", { name: "Check slo" }).click();
    expect(await page.locator(".tree-row.active").innerText()).to.match(/Not passed\s+Check slo$/);
    await page.getByRole("treeitem", { name: /Waiting.*Check board.*Not asked yet/ }).waitFor();
    await page.getByRole("button", { name: "Resume" }).click();
    await page.getByRole("dialog").getByText(`You accept this: ${words}`).waitFor();
    await expectAccessible(page);
  });
});
