import type { Stage, SubTask, Task } from "../../../src/domain/spec/task";

/** When the tasks of these tests were accepted. */
export const begin = Date.parse("2026-12-01T09:00:00.000Z");

/** A time so many seconds after that. */
export const at = (seconds: number) => new Date(begin + seconds * 1000).toISOString();

export const part = (type: string, status: SubTask["status"], more: Partial<SubTask> = {}): SubTask => ({
  name: type,
  type,
  description: type,
  status,
  creationTimestamp: at(0),
  ...more,
});

export const stage = (status: Stage["status"], seconds: number): Stage => ({
  name: "Remediate",
  type: "REMEDIATE",
  description: "Remediate",
  status,
  creationTimestamp: at(seconds),
});

/** A host that was upgraded from one second to another. */
export const doneHost = (name: string, from: number, to: number): SubTask =>
  part("HOST_UPGRADE", "SUCCESSFUL", { name, stages: [stage("SUCCESSFUL", from)], completionTimestamp: at(to) });

export const runningHost = (name: string, from: number): SubTask =>
  part("HOST_UPGRADE", "IN_PROGRESS", { name, stages: [stage("IN_PROGRESS", from)] });

export const failedHost = (name: string, from: number, message: string): SubTask =>
  part("HOST_UPGRADE", "FAILED", {
    name,
    stages: [{ ...stage("FAILED", from), errors: [{ message }] }],
    errors: [{ message }],
    completionTimestamp: at(from + 5),
  });

export const waitingHost = (name: string): SubTask => part("HOST_UPGRADE", "PENDING", { name });

export const cluster = (status: SubTask["status"], hosts?: SubTask[], name = "cl01"): SubTask =>
  part("CLUSTER_UPGRADE", status, { name, resources: [{ resourceId: name, name }], ...(hosts && { subTasks: hosts }) });

export const task = (clusters: SubTask[], more: Partial<Task> = {}): Task => ({
  id: "6f1f2a58-7f0a-4b7e-9d53-2c1f6a0c8e11",
  name: "Upgrade cl01 to 9.0.2",
  type: "UPGRADE",
  status: "In Progress",
  creationTimestamp: at(0),
  subTasks: [part("PRECHECKS", "SUCCESSFUL"), part("HOSTOS_UPGRADE", "IN_PROGRESS", { subTasks: clusters })],
  ...more,
});
