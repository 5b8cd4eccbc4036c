import { expect } from "chai";
import { exampleNow } from "../../support/service/examples";
import { until } from "../../support/service/service-under-test";
import { ConsoleUnderTest } from "./console-under-test";

/** How far the browser's clock is from that of the service: two hours. */
const wrongBy = 2 * 3_600_000;

describe("the console's line to the API", function () {
  this.timeout(120_000);
  // An upgrade that has not ended when the API is back, which takes some fifteen seconds.
  const console = ConsoleUnderTest.inSuite({ SIMULATOR_HOST_SECONDS: "7" });

  it("is said to be lost at once when the API is killed, and taken up again with what is true then", async () => {
    const { page, service } = console;
    await console.open(await service.startUpgrade(exampleNow("cluster-draft")));
    await console.badge("Running");
    await console.button("Pause").waitFor();
    const lost = page.getByText("Connection lost, trying again…");
    const asked: number[] = [];
    page.on("request", (request) => {
      if (request.url().endsWith("/events")) asked.push(Date.now());
    });
    service.signal("supervisor", "SIGSTOP");
    const killed = Date.now();
    service.signal("api", "SIGKILL");
    await lost.waitFor();
    expect(Date.now() - killed, "milliseconds until it says so").to.be.below(2000);
    expect(await console.button("Pause").count(), "no button does anything now").to.equal(0);
    // Without its supervisor the API stays away for as long as this takes.
    await until("it has tried four times", () => asked.length >= 4);
    const pauses = asked.slice(1).map((at, i) => at - (asked[i] ?? at));
    expect(pauses.at(-1), "each wait is longer").to.be.above((pauses[0] ?? 0) * 1.5);
    service.signal("supervisor", "SIGCONT");
    await page.getByRole("status").getByText("Live").waitFor();
    await console.badge("Successful");
    await page.getByText("4 of 4", { exact: true }).waitFor();
    await page.locator(".error").waitFor({ state: "detached" });
  });

  it("waits as long as Retry-After says where a read is shed, and goes on by itself", async () => {
    const { page, service } = console;
    const asked: number[] = [];
    await page.route("**/v1/upgrades?*", (route) => {
      asked.push(Date.now());
      if (asked.length > 1) return route.continue();
      const body = JSON.stringify({ errorCode: "OVERLOADED", message: "Too many requests to read." });
      return route.fulfill({ status: 503, headers: { "retry-after": "4" }, contentType: "application/json", body });
    });
    await page.goto(service.apiUrl);
    await page.getByText("Too many requests to read.").waitFor();
    await until("it has asked again", () => asked.length > 1);
    expect((asked[1] ?? 0) - (asked[0] ?? 0)).to.be.at.least(4000);
    await page.getByText("Too many requests to read.").waitFor({ state: "detached" });
  });

  it("tells times by the service's clock, whatever the browser's is", async () => {
    const { page, service } = console;
    await page.clock.install({ time: Date.now() - wrongBy });
    await console.open(await service.startUpgrade(exampleNow("cluster-draft")));
    await page.locator("[role=progressbar][aria-valuenow='2']").waitFor();
    const facts = await page.locator(".upgrade-facts").innerText();
    expect(facts).to.match(/Worked\s+\d{1,2} s/);
    expect(facts).to.match(/, (almost done|about 1 min left)/);
  });
});
