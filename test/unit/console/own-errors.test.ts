import { expect } from "chai";
import { errorGroups, ownErrors, taskErrors } from "../../../src/console/model/own-errors";
import { taskRows } from "../../../src/console/model/task-rows";
import { precheckRunsOf } from "../../../src/console/model/precheck-runs";
import { at, cluster, doneHost, part, stage, task } from "./console-task";

const error = (message: string, errorCode = "HOST_REMEDIATION_FAILED") => ({ message, errorCode });
const failed = (name: string, message: string) =>
  part("HOST_UPGRADE", "FAILED", {
    name,
    errors: [error(message)],
    stages: [{ ...stage("FAILED", 1), errors: [error(message)] }],
  });
const left = { ...error("esx-9 is in maintenance mode", "HOST_LEFT_IN_MAINTENANCE_MODE") };
const sum = { ...error("2 hosts failed", "CLUSTER_FAILED"), nestedErrors: [error("no room"), left] };
const shown = task(
  [{ ...cluster("FAILED", [doneHost("a", 0, 1), failed("b", "no room"), failed("c", "no image")]), errors: [sum] }],
  { errors: [error("no room"), error("the lock is lost", "LOCK_LOST")] },
);

describe("the console's errors", () => {
  it("show once, where they happened", () => {
    expect(ownErrors(shown).map(({ message }) => message)).to.deep.equal(["the lock is lost"]);
    expect(ownErrors(failed("b", "no room"))).to.deep.equal([]);
  });

  it("that sum up others keep of them what is told nowhere else", () => {
    const [product] = shown.subTasks?.slice(1) ?? [];
    const [summed] = ownErrors(product?.subTasks?.[0] ?? cluster("FAILED"));
    expect(summed).to.deep.include({ message: "2 hosts failed", nestedErrors: [left] });
  });

  it("that are passed on with more words, or by the stage of a cluster, are told by the host alone", () => {
    const passedOn = error("Cluster cl01: no room. Of 2 hosts 1 failed.");
    const shownOnce = task(
      [
        {
          ...cluster("FAILED", [failed("b", "no room"), doneHost("c", 0, 1)]),
          errors: [error("no room")],
          stages: [{ ...stage("FAILED", 1), errors: [error("no room")] }],
        },
      ],
      { errors: [passedOn, error("Cluster cl01: no room.", "ANOTHER_CODE")] },
    );
    expect(taskErrors(shownOnce).map(({ errorCode }) => errorCode)).to.deep.equal(["ANOTHER_CODE"]);
    expect(errorGroups(shownOnce).flatMap(({ places }) => places.map(({ name }) => name))).to.deep.equal(["b"]);
    const errors = taskRows(shownOnce, new Map()).filter(({ kind }) => kind === "ERROR");
    expect(errors).to.have.lengthOf(1);
  });

  it("are summed up by code, with the rows where they are told", () => {
    const prefix = "/subTasks/1/subTasks/0";
    expect(errorGroups(shown)).to.deep.equal([
      { errorCode: "CLUSTER_FAILED", places: [{ key: prefix, name: "cl01" }] },
      {
        errorCode: "HOST_REMEDIATION_FAILED",
        places: [
          { key: `${prefix}/subTasks/1`, name: "b" },
          { key: `${prefix}/subTasks/2`, name: "c" },
        ],
      },
    ]);
    expect(errorGroups(task([cluster("PENDING")]))).to.deep.equal([]);
  });

  it("of prechecks are in their own section, the latest run first", () => {
    const run = (name: string, status: "FAILED" | "SUCCESSFUL") =>
      part("PRECHECKS", status, {
        name,
        completionTimestamp: at(9),
        subTasks: [
          part("CLUSTER_PRECHECKS", status, {
            resources: [{ resourceId: "c1", name: "cl01" }],
            stages: [
              stage("SUCCESSFUL", 1),
              { ...stage(status, 2), ...(status === "FAILED" && { errors: [error("vSAN")] }) },
            ],
            ...(status === "FAILED" && { errors: [error("vSAN")] }),
          }),
        ],
      });
    const checked = task([], { subTasks: [run("Prechecks", "FAILED"), run("Prechecks, run 2", "SUCCESSFUL")] });
    const runs = precheckRunsOf(checked);
    expect(runs.map(({ name, passed, failed: bad }) => [name, passed, bad])).to.deep.equal([
      ["Prechecks, run 2", 2, 0],
      ["Prechecks", 1, 1],
    ]);
    const [resource] = runs[1]?.resources ?? [];
    expect(resource?.name).to.equal("cl01");
    expect(resource?.checks.flatMap(({ errors }) => errors.map(({ message }) => message))).to.deep.equal(["vSAN"]);
    expect(errorGroups(checked)).to.deep.equal([]);
  });
});
