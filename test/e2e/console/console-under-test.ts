import { expect } from "chai";
import type { Browser, Locator, Page } from "playwright-core";
import type { Task } from "../../../src/domain/spec/task";
import type { PageOfUpgrade } from "../../../src/domain/spec/upgrade";
import { ServiceUnderTest, until } from "../../support/service/service-under-test";
import { wide } from "./accessibility";
import { startChromium } from "./chromium";

/** The service with its console in a browser. Each test has a page of its own, and begins with nothing that runs. */
export class ConsoleUnderTest {
  private started: { readonly service: ServiceUnderTest; readonly browser: Browser } | undefined;
  private shown: Page | undefined;
  private complaints: string[] = [];

  /** Registers the hooks of the suite that surrounds the call. */
  static inSuite(variables: Readonly<Record<string, string>>): ConsoleUnderTest {
    const console = new ConsoleUnderTest();
    before(async () => {
      const browser = await startChromium();
      console.started = { browser, service: await ServiceUnderTest.start(variables) };
    });
    after(async () => {
      await console.started?.browser.close();
      await console.started?.service.discard();
    });
    beforeEach(() => console.begin());
    afterEach(() => console.end());
    return console;
  }

  get service(): ServiceUnderTest {
    if (!this.started) throw new Error("The service has not been started");
    return this.started.service;
  }

  get page(): Page {
    if (!this.shown) throw new Error("There is no page");
    return this.shown;
  }

  /** Opens the page of an upgrade. */
  async open({ id }: Task): Promise<void> {
    await this.page.goto(`${this.service.apiUrl}/#/upgrades/${id}`);
    await this.page.getByRole("tree").waitFor();
  }

  button(name: string): Locator {
    return this.page.getByRole("button", { name, exact: true });
  }

  /** A button of the open dialog. */
  dialogButton(name: string): Locator {
    return this.page.getByRole("dialog").getByRole("button", { name, exact: true });
  }

  /**
   * Asks for an operation by the mouse and gives what the dialog says before it is confirmed. The dialog follows the
   * upgrade: `says` is waited for.
   */
  async confirm(name: string, says: RegExp | string = ""): Promise<string> {
    await this.button(name).click();
    await this.page.getByRole("dialog").filter({ hasText: says }).waitFor();
    const words = await this.page.getByRole("dialog").innerText();
    await this.dialogButton(name).click();
    await this.page.getByRole("dialog").waitFor({ state: "detached" });
    return words;
  }

  /** Waits until the phase is shown by this word. */
  badge(word: string): Promise<void> {
    return this.page.locator(".headline .badge", { hasText: word }).waitFor();
  }

  private async begin(): Promise<void> {
    await this.service.resetSimulator();
    this.shown = await this.started?.browser.newPage({ viewport: wide });
    this.page.setDefaultTimeout(30_000);
    this.complaints = [];
    this.page.on("pageerror", (error) => this.complaints.push(error.message));
    this.page.on("console", (message) => {
      if (/Content Security Policy/.test(message.text())) this.complaints.push(message.text());
    });
  }

  private async end(): Promise<void> {
    await this.shown?.close();
    await this.endAllUpgrades();
    expect(this.complaints, "what the browser complained about").to.deep.equal([]);
  }

  /** What one test has left is no lock of the next one. */
  private async endAllUpgrades(): Promise<void> {
    const { body } = await this.service.get<PageOfUpgrade>("/v1/upgrades");
    for (const { id } of body.elements ?? []) {
      const { status } = await this.service.task(id);
      if (status === "Failed") await this.service.send("POST", `/v1/upgrades/${id}/resolve`);
      else await this.service.send("DELETE", `/v1/tasks/${id}`);
    }
    await until("no upgrade is open", async () => {
      const { body: now } = await this.service.get<PageOfUpgrade>("/v1/upgrades");
      return (now.elements ?? []).every(({ endTime }) => endTime !== undefined);
    });
  }
}
