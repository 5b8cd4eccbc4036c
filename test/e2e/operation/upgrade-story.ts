import type { Task } from "../../../src/domain/spec/task";
import { waitsForCommit } from "../../support/waits-for-commit";
import { exampleNow } from "../../support/service/examples";
import type { ServiceUnderTest } from "../../support/service/service-under-test";

/** The trace that the client of the story is in when it starts the upgrade. */
export const clientTrace = "4bf92f3577b34da6a3ce929d0e0e4736";
/** Fails once and is tried again. */
export const stumbling = "fra1-esx-01.mgmt.example.com";
/** Fails as often as it may, and with it the upgrade; after somebody's retry it goes well. */
export const failing = "fra1-esx-03.mgmt.example.com";
/** Attempts that each host has. */
export const attempts = 3;

/** The requests of the story, in their order, by their `x-request-id`. */
export const requestIds = ["story-start", "story-commit", "story-pause", "story-resume", "story-retry"] as const;

/** Drafts an upgrade, commits it, pauses and resumes it, retries it after it has failed, and waits for its end. */
export async function runStory(service: ServiceUnderTest): Promise<Task> {
  await service.fault({ kind: "REMEDIATION_FAILS", host: stumbling, times: 1, message: "bootbank is too small" });
  await service.fault({ kind: "REMEDIATION_FAILS", host: failing, times: attempts, message: "a disk is full" });
  const spec = exampleNow("cluster-draft");
  const [resource] = spec.resourceUpgradeSpecs;
  const retries = { hostosUpgradeFailureAction: { action: "RETRY", retryCount: attempts - 1, retryDelay: 0 } };
  const resourceUpgradeSpecs = [{ ...resource, hostosUpgradeOptionsSpec: retries }];
  const traceparent = `00-${clientTrace}-00f067aa0ba902b7-01`;
  const { body } = await service.post<Task>(
    "/v1/upgrades",
    { ...spec, draftMode: true, resourceUpgradeSpecs },
    { "x-request-id": "story-start", traceparent },
  );
  const { id } = body;
  const ask = async (method: "POST" | "PATCH", path: string, requestId: (typeof requestIds)[number]) => {
    const answer = await fetch(service.apiUrl + path, {
      method,
      headers: { authorization: "Bearer test", "content-type": "application/json", "x-request-id": requestId },
      body: "{}",
    });
    if (answer.status !== 200) throw new Error(`${method} ${path} answered ${answer.status}: ${await answer.text()}`);
  };
  await service.taskWhen(id, "waits for its commit", waitsForCommit);
  await ask("PATCH", `/v1/upgrades/${id}`, "story-commit");
  await service.taskWhen(id, "runs", ({ status }) => status === "In Progress");
  await ask("POST", `/v1/upgrades/${id}/pause`, "story-pause");
  await ask("POST", `/v1/upgrades/${id}/resume`, "story-resume");
  await service.taskWhen(id, "has failed", (task) => task.status === "Failed" && task.isRetryable === true);
  await ask("PATCH", `/v1/tasks/${id}`, "story-retry");
  return service.taskWhen(id, "has ended", ({ status }) => status === "Successful");
}
