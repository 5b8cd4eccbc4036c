import { expect } from "chai";
import { precheckedResources } from "../../../src/console/model/precheck-runs";
import { readinessOf, wordsOfReadiness } from "../../../src/console/model/readiness";
import {
  type ReadinessForm,
  readinessPathOf,
  readinessRequestOf,
  scheduleWords,
  timeZones,
} from "../../../src/console/model/readiness-form";
import { ReadinessSpec } from "../../../src/domain/readiness/readiness-spec";
import type { Finding } from "../../../src/domain/spec/finding";
import type { SubTask } from "../../../src/domain/spec/task";
import { part, stage, task } from "./console-task";

const form: ReadinessForm = {
  bundleId: "b",
  clusters: [{ resourceId: "c1" }, { resourceId: "c2" }],
  repeat: "ONCE",
  time: "02:05",
  timeZone: "Europe/Berlin",
};

const finding = (severity: Finding["severity"]): Finding => ({
  ...{ severity, code: "CODE", message: severity, remediationMessage: "Mend it.", resourceId: "c" },
  isAcknowledgeable: true,
});
const checked = (name: string, status: SubTask["status"], ...severities: Finding["severity"][]): SubTask =>
  part("CLUSTER_PRECHECKS", status, {
    resources: [{ resourceId: name, name }],
    stages: [{ ...stage(status === "FAILED" ? "FAILED" : "SUCCESSFUL", 1), findings: severities.map(finding) }],
  });

describe("the console's readiness checks", () => {
  it("ask for a check once, or by a cron expression that the service takes and the console reads back", () => {
    const requests = (["ONCE", "DAILY", "WEEKDAYS"] as const).map((repeat) => {
      const request = readinessRequestOf({ ...form, repeat });
      if (request._tag === "Left") throw new Error(JSON.stringify(request.left));
      expect(ReadinessSpec.decode(request.right)).to.have.property("_tag", "Right");
      return request.right;
    });
    expect(requests[0]).to.deep.equal({ bundleId: "b", resourceIds: ["c1", "c2"] });
    const [daily, weekdays] = requests.flatMap(({ schedule }) => schedule ?? []);
    expect(daily).to.deep.equal({ cron: "5 2 * * *", timeZone: "Europe/Berlin" });
    expect(daily && scheduleWords(daily)).to.equal("Every day at 02:05, Europe/Berlin");
    expect(weekdays && scheduleWords(weekdays)).to.equal("Monday to Friday at 02:05, Europe/Berlin");
    expect(scheduleWords({ cron: "0 2 1 * *", timeZone: "UTC" })).to.equal("By cron: 0 2 1 * *, UTC");
  });

  it("say what is missing, and find the field that the service names", () => {
    const empty = readinessRequestOf({ ...form, bundleId: "", clusters: [], repeat: "DAILY", time: "" });
    expect(empty._tag === "Left" && empty.left.map(({ path }) => path)).to.deep.equal(["bundleId", "clusters", "time"]);
    const paths = ["resourceIds[1]", "resourceIds", "schedule.timeZone", "schedule.cron", "schedule", "bundleId"];
    expect(paths.map(readinessPathOf)).to.deep.equal([
      ...["clusters[1]", "clusters", "timeZone", "time", "time", "bundleId"],
    ]);
    expect(timeZones("Asia/Calcutta")).to.include.members(["UTC", "Asia/Calcutta", "Europe/Berlin"]);
  });

  it("list what is not ready first, with the numbers of what was found", () => {
    const parts = [
      checked("clean", "SUCCESSFUL"),
      checked("warned", "SUCCESSFUL", "WARNING", "INFO", "WARNING"),
      part("CLUSTER_PRECHECKS", "IN_PROGRESS", { name: "running" }),
      checked("bad", "FAILED", "ERROR", "WARNING"),
      part("CLUSTER_PRECHECKS", "FAILED", { name: "unread", errors: [{ message: "no answer", errorCode: "AWAY" }] }),
    ];
    const shown = readinessOf(precheckedResources({ subTasks: parts }), "In Progress");
    expect(shown.map(({ name, words, counts }) => [name, words.word, counts])).to.deep.equal([
      ["bad", "Not ready", "1 error, 1 warning"],
      ["unread", "Not ready", "1 error"],
      ["warned", "Ready, with warnings", "2 warnings, 1 note"],
      ["running", "Running", ""],
      ["clean", "Ready", ""],
    ]);
  });

  it("tell a cancellation and a loss from what was found", () => {
    const interrupted = part("CLUSTER_PRECHECKS", "FAILED", { errors: [{ message: "cut", errorCode: "CANCELLED" }] });
    const [shown] = readinessOf(precheckedResources({ subTasks: [interrupted] }), "Cancelled");
    expect(shown).to.include({ counts: "" }).and.to.have.nested.property("words.word", "Cancelled");
    expect(shown?.checks).to.deep.equal([]);
    const resources = [{ resourceId: "c1" }];
    const wordOf = (more: object) => wordsOfReadiness(task([], { resources, ...more })).word;
    expect(wordOf({ status: "Failed" })).to.equal("Not ready");
    expect(wordOf({ status: "Failed", errors: [{ message: "lost", errorCode: "READINESS_LOST" }] })).to.equal("Failed");
    expect(wordOf({ status: "Failed", resources: [] })).to.equal("Failed");
    expect(wordOf({ status: "COMPLETED_WITH_WARNING" })).to.equal("Ready, with warnings");
  });
});
