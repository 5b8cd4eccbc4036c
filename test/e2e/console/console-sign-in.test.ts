import { resolve } from "node:path";
import { expect } from "chai";
import * as TE from "fp-ts/TaskEither";
import type { Browser, Page } from "playwright-core";
import type { Authentication } from "../../../src/authentication/authentication";
import { oidcAuthentication } from "../../../src/authentication/oidc-authentication";
import type { Task } from "../../../src/domain/spec/task";
import type { TaskEvent } from "../../../src/upgrades/task-history";
import { until } from "../../support/service/service-under-test";
import { type ApiUnderTest, startApiUnderTest } from "../../unit/api/api-under-test";
import {
  localFiles,
  type LocalFiles,
  passwords,
  type UserName,
} from "../../unit/authentication/local-authentication-under-test";
import { audience, browserClient, realIssuer } from "../../unit/authentication/real-issuer";
import { cluster, runningHost, task } from "../../unit/console/console-task";
import { expectAccessible, wide } from "./accessibility";
import { startChromium } from "./chromium";

const installation = { folder: resolve(__dirname, "../../../dist/console"), temporalNamespace: "default" };
const hour = 3_600_000;

describe("signing in to the console", function () {
  this.timeout(60_000);
  let browser: Browser;
  let page: Page;
  let files: LocalFiles;
  let api: ApiUnderTest | undefined;
  before(async () => (browser = await startChromium()));
  after(() => browser.close());
  beforeEach(async () => {
    files = await localFiles();
    page = await browser.newPage({ viewport: wide });
  });
  afterEach(async () => {
    await page.close();
    await api?.close();
    files.remove();
  });

  const running: Task = task([cluster("IN_PROGRESS", [runningHost("esx-01", 0)])], { isCancellable: true });

  /** A Task whose stream of events ends when the test says so. */
  function followedTask() {
    const ends: (() => void)[] = [];
    return {
      endStreams: () => ends.splice(0).forEach((end) => end()),
      watchTask: () => {
        const events: TaskEvent[] = [{ type: "SNAPSHOT", id: "1.1", task: running }];
        const ended = new Promise<undefined>((end) => ends.push(() => end(undefined)));
        return TE.right({ taskId: running.id, next: async () => events.shift() ?? ended, leave: () => undefined });
      },
    };
  }

  const serve = async (authentication: Authentication) => {
    const { endStreams, watchTask } = followedTask();
    api = await startApiUnderTest({ console: installation, authentication, service: { watchTask } });
    return { url: api.url, endStreams };
  };
  const signIn = async (name: UserName, password: string = passwords[name]) => {
    await page.getByLabel("Name").fill(name);
    await page.getByLabel("Password").fill(password);
    await page.getByRole("button", { name: "Sign in" }).click();
  };

  it("by name and password: says why it was refused, keeps tokens out of addresses and the disk, revokes at the end", async () => {
    const { url } = await serve(await files.authentication());
    await page.goto(url);
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    await expectAccessible(page);
    await signIn("operator", "wrong");
    await page.getByRole("alert").getByText("Unknown user, or wrong password.").waitFor();
    await expectAccessible(page);
    await signIn("operator");
    await page.locator(".upgrades tbody a").first().waitFor();
    await page.getByText("operator (OPERATOR)").waitFor();
    expect(await page.evaluate("localStorage.length + document.cookie.length")).to.equal(0);
    expect(page.url()).to.not.match(/ey[A-Za-z0-9]/);
    const stored: string = await page.evaluate("sessionStorage.getItem('upgrade-console-session')");
    const { refreshToken } = JSON.parse(stored) as { refreshToken: string };
    await page.reload();
    await page.locator(".upgrades tbody a").first().waitFor();

    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("Name").waitFor();
    expect(await page.evaluate("sessionStorage.length")).to.equal(0);
    const refreshed = await fetch(`${url}/v1/tokens/access-token/refresh`, {
      method: "PATCH",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(refreshToken),
    });
    expect(refreshed.status, "the refresh token is revoked").to.equal(403);
  });

  it("holds in every tab of the browser: a new one asks for nothing, and signing out ends all", async () => {
    const { url } = await serve(await files.authentication());
    const context = await browser.newContext({ viewport: wide });
    try {
      const [first, second] = [await context.newPage(), await context.newPage()];
      await Promise.all([first.goto(url), second.goto(url)]);
      for (const tab of [first, second]) await tab.getByRole("heading", { name: "Sign in" }).waitFor();
      await first.getByLabel("Name").fill("operator");
      await first.getByLabel("Password").fill(passwords.operator);
      await first.getByRole("button", { name: "Sign in" }).click();
      for (const tab of [first, second]) await tab.getByText("operator (OPERATOR)").waitFor();
      const third = await context.newPage();
      await third.goto(`${url}/#/upgrades/${running.id}`);
      await third.getByText("operator (OPERATOR)").waitFor();
      expect(await third.evaluate("localStorage.length + document.cookie.length")).to.equal(0);

      files.clock.now += 2 * hour;
      const renewals: string[] = [];
      context.on("response", (answer) => {
        if (answer.url().endsWith("/access-token/refresh")) renewals.push(`${answer.status()}`);
      });
      await Promise.all([first.reload(), second.reload()]);
      for (const tab of [first, second]) await tab.getByText("operator (OPERATOR)").waitFor();
      expect(renewals, "the tabs renewed the session once").to.deep.equal(["200"]);

      await second.getByRole("button", { name: "Sign out" }).click();
      for (const tab of [first, second, third]) await tab.getByLabel("Name").waitFor();
      await first.getByText("You signed out in another tab.").waitFor();
      expect(await third.evaluate("sessionStorage.length")).to.equal(0);
    } finally {
      await context.close();
    }
  });

  it("shows a VIEWER no buttons, and says why", async () => {
    const { url } = await serve(await files.authentication());
    await page.goto(`${url}/#/upgrades/${running.id}`);
    await signIn("viewer");
    await page.getByText("Your role VIEWER is read-only").waitFor();
    // Those of the table of hosts sort it, and change nothing.
    const buttons = page.getByRole("main").getByRole("button");
    expect(await buttons.count()).to.equal(await page.getByRole("grid").getByRole("button").count());
    expect(await page.getByRole("link", { name: "New upgrade" }).count()).to.equal(0);
    await expectAccessible(page);
    await page.goto(`${url}/#/new`);
    await page.getByText("Your role VIEWER is read-only").waitFor();
    expect(await page.getByRole("main").getByRole("button").count()).to.equal(0);
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.goto(`${url}/#/upgrades/${running.id}`);
    await signIn("operator");
    await page.getByRole("button", { name: "Pause" }).waitFor();
  });

  it("is renewed before the access token ends", async () => {
    const { url } = await serve(await files.authentication());
    await page.clock.install();
    await page.goto(url);
    await signIn("operator");
    await page.locator(".upgrades tbody a").first().waitFor();
    const renewed = page.waitForResponse((answer) => answer.url().endsWith("/access-token/refresh"));
    await page.clock.fastForward(hour - 59_000);
    expect((await renewed).status()).to.equal(200);
  });

  it("lasts while somebody watches, and where it ends leads back to what was watched", async () => {
    const { url, endStreams } = await serve(await files.authentication());
    await page.goto(`${url}/#/upgrades/${running.id}`);
    await signIn("operator");
    await page.getByRole("status").getByText("Live").waitFor();

    files.clock.now += 2 * hour;
    const renewed = page.waitForResponse((answer) => answer.url().endsWith("/access-token/refresh"));
    endStreams();
    expect((await renewed).status(), "the access token has ended, the session has not").to.equal(200);
    await page.getByRole("status").getByText("Live").waitFor();
    await page.getByRole("button", { name: "Pause" }).waitFor();

    files.clock.now += 48 * hour;
    endStreams();
    await page.getByText("Your session has ended.").waitFor();
    await expectAccessible(page);
    await signIn("operator");
    await page.getByRole("treeitem", { name: /esx-01/ }).waitFor();
    expect(page.url()).to.contain(running.id);
  });

  it("by an issuer, with PKCE: comes back to the page, renews and revokes there", async () => {
    let url = "";
    const issuer = await realIssuer({ alice: "OPERATOR", bob: "VIEWER" }, async (issuerUrl) => {
      const signIn = { issuer: issuerUrl, clientId: browserClient, scope: "openid", audience };
      const authentication = oidcAuthentication({
        issuer: issuerUrl,
        audience,
        roleClaim: "role",
        keysUrl: undefined,
        now: () => new Date(),
      });
      const { watchTask } = followedTask();
      api = await startApiUnderTest({ console: { ...installation, signIn }, authentication, service: { watchTask } });
      url = api.url;
      return `${url}/`;
    });
    try {
      const asked: URL[] = [];
      const posted: string[] = [];
      page.on("request", (request) => {
        asked.push(new URL(request.url()));
        if (request.method() === "POST") posted.push(`${new URL(request.url()).pathname} ${request.postData() ?? ""}`);
      });
      await page.goto(`${url}/#/upgrades/${running.id}`);
      await page.getByRole("button", { name: /^Sign in at 127\.0\.0\.1/ }).waitFor();
      await expectAccessible(page);
      await page.clock.install();
      await page.getByRole("button", { name: /^Sign in at/ }).click();
      await page.locator("input[name=login]").fill("alice");
      await page.locator("input[name=password]").fill("anything");
      await page.locator("button[type=submit]").click();
      await page.locator("button[type=submit]", { hasText: "Continue" }).click();
      await page.getByText("alice (OPERATOR)").waitFor();
      await page.getByRole("button", { name: "Pause" }).waitFor();
      expect(page.url()).to.equal(`${url}/#/upgrades/${running.id}`);
      const authorize = asked.find(({ searchParams }) => searchParams.has("code_challenge"));
      expect(authorize?.searchParams.get("code_challenge_method")).to.equal("S256");
      expect(posted.find((one) => one.startsWith("/token"))).to.contain("code_verifier=");
      for (const { href } of asked)
        expect(href, "no token in any address").to.not.match(/access_token|refresh_token|eyJ/);

      await page.clock.fastForward(570_000);
      await until("it was renewed at the issuer", () => posted.some((one) => one.includes("grant_type=refresh_token")));
      await page.getByRole("button", { name: "Sign out" }).click();
      await until("it was revoked at the issuer", () => posted.some((one) => one.startsWith("/token/revocation")));
      await page.getByRole("button", { name: /^Sign in at/ }).waitFor();
    } finally {
      await issuer.close();
    }
  });
});
