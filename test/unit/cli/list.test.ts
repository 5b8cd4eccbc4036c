import { expect } from "chai";
import { createColors } from "picocolors";
import { countsExample, taskExample, upgradeExample } from "../../../src/api/openapi/examples";
import { CliError } from "../../../src/cli/errors";
import { statusFilter, timeText } from "../../../src/cli/phases";
import { statusView } from "../../../src/cli/upgrade-views";
import type { Upgrade } from "../../../src/domain/spec/upgrade";
import { FakeApi } from "../../support/fake-api";
import { Upgradectl } from "../../support/run-upgradectl";

const now = Date.parse("2036-01-01T00:00:00.000Z");
const at = (minutes: number) => new Date(now + minutes * 60_000).toISOString();
const { waitingFor: _wait, ...plainUpgrade } = upgradeExample;

function upgrade(n: number, over: Partial<Upgrade>): Upgrade {
  return { ...plainUpgrade, id: `${String(n).padStart(8, "0")}-0000-4000-8000-000000000000`, since: at(-60), ...over };
}

const failed = upgrade(1, {
  phase: "ACTION_REQUIRED",
  name: "Upgrade a",
  hosts: { total: 8, done: 3, running: 0, failed: 1, left: 4 },
  until: at(3 * 1440),
  waitingFor: { code: "DECISION", message: "The bootbank is too small." },
});
const running = upgrade(2, {
  phase: "RUNNING",
  name: "Upgrade b",
  hosts: { total: 128, done: 46, running: 2, failed: 0, left: 80 },
  expectedEnd: at(65),
});
const scheduled = upgrade(3, { phase: "SCHEDULED", name: "Upgrade c", beginsAt: at(120), until: at(120) });
const draft = upgrade(4, { phase: "DRAFT_READY", name: "Upgrade d" });
const all = [failed, running, scheduled, draft];

describe("upgradectl list and status", () => {
  let api: FakeApi;
  let cli: Upgradectl;
  beforeEach(async () => {
    api = await FakeApi.start();
    cli = new Upgradectl();
    cli.env = { UPGRADECTL_SERVER: api.url, TZ: "Europe/Berlin" };
    api.answer("GET /v1/upgrades", 200, { elements: all }).answer("GET /v1/upgrades/counts", 200, countsExample);
  });
  afterEach(async () => {
    await api.stop();
    cli.discard();
  });

  const query = () => Object.fromEntries(new URL(api.last.url, api.url).searchParams);

  it("shows hosts, the time left and who made it, without a second request", async () => {
    const { stdout } = await cli.run(["list"]);
    expect(stdout)
      .to.match(/^00000001-\S+ +Needs you +Upgrade a +3\/8, 1 failed +decide in 3 d +jane$/m)
      .and.to.match(/ Running +Upgrade b +46\/128 +about 1 h 5 min left /)
      .and.to.match(/ Scheduled +Upgrade c +- +begins in 2 h /)
      .and.to.match(/ Draft, ready +Upgrade d +- +for 1 h /);
    expect(api.received).to.have.length(1);
  });

  it("-o wide has the API's status and versions, -o name the ids, -o yaml the document", async () => {
    const wide = (await cli.run(["list", "-o", "wide"])).stdout;
    expect(wide).to.contain("STATUS OF THE API").and.to.contain("PENDING").and.to.contain("9.0.2-0.25148076");
    expect((await cli.run(["list", "-o", "name"])).stdout.trimEnd().split("\n")).to.deep.equal(all.map(({ id }) => id));
    expect((await cli.run(["list", "-o", "yaml"])).stdout).to.match(/^elements:\n {2}- id: "00000001-/);
    const evil = { ...draft, name: "a\u202eb" };
    api.answer("GET /v1/upgrades", 200, { elements: [evil] });
    expect((await cli.run(["list", "-o", "yaml"])).stdout).to.contain('name: "a\\u202eb"');
  });

  it("--status takes people's words and the specification's, several at once", async () => {
    for (const [given, expected] of [
      ["needs-you", { phase: "ACTION_REQUIRED" }],
      ["Needs you,running", { phase: "ACTION_REQUIRED,RUNNING" }],
      ["draft", { phase: "DRAFT_PRECHECKS,DRAFT_READY,PRECHECKS_FAILED" }],
      ["draft_ready", { phase: "DRAFT_READY" }],
      ["DRAFT,INPROGRESS", { status: "DRAFT,INPROGRESS" }],
      ["PAUSED", { status: "PAUSED" }],
      ["paused", { phase: "PAUSED" }],
      ["failed", { status: "COMPLETED_WITH_FAILURE" }],
    ] as const)
      expect(statusFilter(given), given).to.deep.equal(expected);
    expect(() => statusFilter("broken")).to.throw(CliError, 'no status "broken"');
    expect(() => statusFilter("failed,running")).to.throw(CliError, "cannot be combined");
    await cli.run(["list", "--status", "running", "--search", "jane prod", "--sort", "ended", "--limit", "3"]);
    expect(query()).to.deep.equal({
      phase: "RUNNING",
      search: "jane prod",
      sort: "ended",
      pageNumber: "0",
      pageSize: "3",
    });
  });

  it("--change and --label choose by the change record, which -o wide and get show", async () => {
    await cli.run(["list", "--change", "CHG1", "--label", "team=blue", "--label", "site=fra1"]);
    expect(query()).to.deep.include({ changeId: "CHG1", label: "team=blue,site=fra1" });
    const changeRecord = { reason: "Security fixes", changeId: "CHG1", labels: { team: "blue" } };
    api.answer("GET /v1/upgrades", 200, { elements: [upgrade(1, changeRecord)] });
    expect((await cli.run(["list", "-o", "wide"])).stdout).to.match(/ CHG1 +team=blue$/m);
  });

  it("--limit ends the list, and --since leaves out what is in its phase for longer", async () => {
    expect((await cli.run(["list", "--limit", "2", "-o", "name"])).stdout.trimEnd().split("\n")).to.have.length(2);
    const young = upgrade(9, { phase: "CANCELLED", since: at(-10) });
    api.answer("GET /v1/upgrades", 200, { elements: [...all, young] });
    const { stdout, stderr } = await cli.run(["list", "--since", "30m", "-o", "name"]);
    expect(stdout).to.equal(`${young.id}\n`);
    expect(stderr).to.contain("Since: Tue 2036-01-01 00:30 Europe/Berlin (+01:00) = Mon 2035-12-31 23:30 UTC");
    for (const wrong of [
      ["--limit", "0"],
      ["--limit", "many"],
      ["--sort", "size"],
      ["--since", "lately"],
    ])
      expect((await cli.run(["list", ...wrong])).code, wrong.join(" ")).to.equal(2);
  });

  it("errors about parameters name the option", async () => {
    api.answer("GET /v1/upgrades", 400, {
      message: "The query parameter search must be a text of at most 100 characters, but is long.",
      context: { path: "search" },
      remediationMessage: "Correct or remove the query parameter.",
    });
    const { stderr } = await cli.run(["list", "--search", "x"]);
    expect(stderr).to.contain("Error: --search must be a text").and.to.contain("Next: Correct --search;");
  });

  it("--watch prints a line for each upgrade that changes, and goes on when the service is back", async () => {
    const pages = [all, all, undefined, [{ ...failed, phase: "RUNNING" as const }, ...all.slice(1)]];
    let read = 0;
    api.on("GET /v1/upgrades", (_request, response) => {
      const elements = pages[read];
      read += 1;
      if (elements) response.end(JSON.stringify({ elements }));
      else response.destroy();
    });
    /** Ctrl-C comes while the last page is shown. */
    const wait = () =>
      read < pages.length ? Promise.resolve() : Promise.reject(new CliError(130, "Interrupted.", "Run it again."));
    const { code, stdout, stderr } = await cli.run(["list", "--watch"], { wait });
    expect(code).to.equal(130);
    const lines = stdout.trimEnd().split("\n");
    expect(lines.map((line) => line.split(/ +/)[1])).to.deep.equal([...all.map(({ id }) => id), failed.id]);
    expect(lines.at(-1)).to.contain("Running").and.to.contain("3/8");
    expect(stderr.match(/Reading it again/g)).to.have.length(1);
  });

  it("status has what needs somebody first, with the reason, then what runs, what is next, and drafts", async () => {
    const { code, stdout } = await cli.run(["status"]);
    expect(code).to.equal(0);
    const places = [
      "Needs you 1",
      "! The bootbank is too small.",
      "In work\n",
      "46/128",
      "Next (times in Europe/Berlin)\n",
      "Tue 1 Jan 03:00, in 2 h",
      "Drafts\n",
      "Upgrade d",
    ].map((text) => stdout.indexOf(text));
    expect(places).to.deep.equal([...places].sort((a, b) => a - b));
    expect(places[0], stdout).to.equal(0);
    // An ended upgrade is only counted.
    expect(query()).to.include({ pageSize: "100" });
    expect(query()["phase"]).to.contain("ACTION_REQUIRED").and.to.not.contain("SUCCEEDED");
    const { elements } = JSON.parse((await cli.run(["status", "-o", "json"])).stdout) as { elements: unknown[] };
    expect(elements).to.have.length(4);
  });

  it("status has a draft that lacks approvals among what needs somebody, with how to approve it", async () => {
    const given = [{ by: "bob", at: at(0) }];
    const wanting = { ...draft, id: "00000009-x", name: "Upgrade w", approvals: { required: 2, given } };
    const approved = { ...draft, id: "00000008-x", name: "Upgrade y", approvals: { required: 1, given } };
    api.answer("GET /v1/upgrades", 200, { elements: [failed, wanting, approved] });
    const phases = [
      { phase: "ACTION_REQUIRED", upgrades: 1 },
      { phase: "DRAFT_READY", upgrades: 2 },
    ];
    api.answer("GET /v1/upgrades/counts", 200, { total: 3, phases });
    const { stdout } = await cli.run(["status"]);
    expect(stdout).to.match(/^Needs you 2 .* Drafts 1 /);
    const [needsYou = "", drafts = ""] = stdout.split("\nDrafts\n");
    expect(needsYou).to.match(/Upgrade w .*\n {2}! Approvals missing: 1\. Next: `upgradectl approve 00000009`\.$/m);
    expect(drafts).to.contain("Upgrade y").and.not.to.contain("Upgrade w").and.not.to.contain("approve");
  });

  it("status says what keeps an upgrade from going on, of what is in work", async () => {
    const message = "Outside maintenance window nights. It begins at 2036-01-01T22:00:00.000Z.";
    const waiting = upgrade(5, { phase: "WAITING", waitingFor: { code: "WINDOW", message } });
    const precheck = { code: "PRECHECKS" as const, message: "Host esx-1 is not connected." };
    const refused = upgrade(6, { phase: "PRECHECKS_FAILED", waitingFor: precheck });
    api.answer("GET /v1/upgrades", 200, { elements: [waiting, running, refused] });
    const { stdout } = await cli.run(["status"]);
    expect(stdout).to.match(/^00000006 +Draft, prechecks failed .*\n {2}! Host esx-1 is not connected\.$/m);
    expect(stdout).to.match(
      /^00000005 +Waiting .*\n {2}· Outside maintenance window nights\. It begins .*\n00000002 /m,
    );
  });

  it("status fits every terminal that has room for its sections, and counts the rest", () => {
    const many = all.flatMap((one, n) =>
      Array.from({ length: 30 }, (_, i) => ({ ...one, id: `${n}${String(i).padStart(7, "0")}-x` })),
    );
    const counts = {
      total: 240,
      phases: all.map(({ phase = "RUNNING" as const }) => ({ phase, upgrades: 60 })),
    };
    const style = createColors(false);
    for (const rows of [22, 30, 60, 200]) {
      const lines = statusView(many, counts, { style, columns: 100, rows, now, zone: "UTC" });
      expect(lines.length).to.be.at.most(rows);
      expect(Math.max(...lines.map((line) => line.length))).to.be.at.most(100);
      const shown = lines.filter((line) => line.includes(" Running ")).length;
      expect(lines.join("\n")).to.contain(`… and ${60 - shown} more: \`upgradectl list --status active\``);
    }
  });

  it("an upgrade that is over says when, and one without times says none", () => {
    expect(timeText(upgrade(5, { phase: "SUCCEEDED", endTime: now - 3 * 3_600_000 }), now)).to.equal("ended 3 h ago");
    expect(timeText({ id: "x" }, now)).to.equal("-");
    expect(timeText(upgrade(6, { phase: "RUNNING", expectedEnd: at(-5) }), now)).to.equal("almost done");
  });

  it("get shows who made it, what it was brought from and to, and until when to decide", async () => {
    const { id } = failed;
    api.answer(`GET /v1/upgrades/${id}`, 200, { ...failed, decideBy: at(4320), workSeconds: 720 });
    api.answer(`GET /v1/tasks/${id}`, 200, { ...taskExample, id });
    const { stdout } = await cli.run(["get", id]);
    expect(stdout)
      .to.contain("Needs you (PENDING)")
      .and.to.match(/^Created +\S.* by jane$/m)
      .and.to.match(/^Worked +12 min$/m)
      .and.to.match(/^Decide by +Fri 2036-01-04 01:00 Europe\/Berlin \(\+01:00\), in 3 d$/m)
      .and.to.match(/^HOSTOS +to 9\.0\.2-0\.25148076$/m)
      .and.to.match(/^Waits +The bootbank is too small\.$/m);
  });
});
