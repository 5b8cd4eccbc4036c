import { resolve } from "node:path";
import { expect } from "chai";
import * as TE from "fp-ts/TaskEither";
import type { Browser } from "playwright-core";
import type { Task } from "../../src/domain/task";
import { unauthorized } from "../../src/api/authentication";
import type { TaskEvent } from "../../src/upgrades/task-listener";
import { startApiUnderTest, type ApiUnderTest } from "../unit/api/api-under-test";
import { cluster, doneHost, runningHost, task, waitingHost } from "../unit/console/console-task";
import { startChromium } from "./chromium";

const numbers = (count: number) => Array.from({ length: count }, (_, i) => i + 1);

/** 100 clusters of 64 hosts, each with a host in work. */
function manyHosts(): Task {
  return task(
    numbers(100).map((c) =>
      cluster(
        "IN_PROGRESS",
        numbers(64).map((h) => {
          const name = `cl${c}-esx${h}`;
          return h < 32 ? doneHost(name, h * 10, h * 10 + 9) : h === 32 ? runningHost(name, 320) : waitingHost(name);
        }),
        `cl${c}`,
      ),
    ),
  );
}

describe("the operators' console over a service that is arranged", function () {
  this.timeout(60_000);
  const folder = resolve(__dirname, "../../dist/console");
  let browser: Browser;
  let api: ApiUnderTest | undefined;
  before(async () => (browser = await startChromium()));
  after(() => browser.close());
  afterEach(() => api?.close());

  it("keeps few of 6,400 hosts in the page, and reaches the last one by a key", async () => {
    const shown = manyHosts();
    const events: TaskEvent[] = [{ type: "SNAPSHOT", id: "1.1", task: shown }];
    const quiet = new Promise<TaskEvent>(() => undefined);
    api = await startApiUnderTest({
      console: { folder, temporalNamespace: "default" },
      service: {
        watchTask: () =>
          TE.right({ taskId: shown.id, next: async () => events.shift() ?? quiet, leave: () => undefined }),
      },
    });
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, colorScheme: "dark" });
    await page.goto(`${api.url}/#/upgrades/${shown.id}`);
    await page.getByText("3100 of 6400", { exact: true }).waitFor();
    expect(await page.getByRole("treeitem").count()).to.be.within(10, 100);
    await page.getByRole("tree").focus();
    await page.keyboard.press("End");
    await page.getByRole("treeitem", { name: /cl100-esx64/ }).waitFor();
    expect(await page.getByRole("treeitem").count()).to.be.within(10, 100);
    await page.close();
  });

  it("asks who somebody is where authentication is on, and says why it was refused", async () => {
    const refused = unauthorized("The name or the password is wrong.", "Try again.");
    api = await startApiUnderTest({
      console: { folder, temporalNamespace: "default" },
      authentication: {
        mode: "local",
        authenticate: (header) =>
          header === "Bearer good" ? TE.right({ caller: "alice", role: "VIEWER" }) : TE.left(refused),
        tokens: {
          issue: ({ password }) =>
            password === "right"
              ? TE.right({ accessToken: "expired", refreshToken: { id: "again" } })
              : TE.left(refused),
          refresh: (id) => (id === "again" ? TE.right("good") : TE.left(refused)),
          revoke: () => TE.right(undefined),
        },
      },
    });
    const page = await browser.newPage();
    await page.goto(api.url);
    await page.getByLabel("Name").fill("alice");
    await page.getByLabel("Password").fill("wrong");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("alert").getByText("The name or the password is wrong.").waitFor();
    await page.getByLabel("Password").fill("right");
    await page.getByRole("button", { name: "Sign in" }).click();
    // The first access token has expired already, so this is read with a renewed one.
    await page.locator(".cards a").first().waitFor();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("Name").waitFor();
    await page.close();
  });
});
