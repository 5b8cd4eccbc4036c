// A client that openapi-typescript has made of the service's /openapi.json, with openapi-fetch: it drafts an upgrade,
// commits it, follows it by its events to the end, and cancels another one. Prints what it has seen as JSON.
import createClient from "openapi-fetch";
import type { components, paths } from "./upgrades.js";

type Task = components["schemas"]["Task"];
type TaskStatus = components["schemas"]["TaskStatus"];
type UpgradeSpec = components["schemas"]["UpgradeSpec"];

declare const process: { readonly argv: readonly string[] };
const [, , baseUrl = "", token = "", cluster = "", firstBundle = "", secondBundle = ""] = process.argv;

const client = createClient<paths>({ baseUrl, headers: { authorization: `Bearer ${token}` } });

/** The data of an answer, or an exception that says what to do. */
function expectData<A>(answer: { readonly data?: A; readonly error?: components["schemas"]["Error"] }): A {
  if (answer.data !== undefined) return answer.data;
  throw new Error(`${answer.error?.errorCode}: ${answer.error?.message} ${answer.error?.remediationMessage}`);
}

const upgradeTo = (bundleId: string, draftMode: boolean): UpgradeSpec => ({
  bundleId,
  resourceType: "CLUSTER",
  draftMode,
  resourceUpgradeSpecs: [
    {
      resourceId: cluster,
      hostosUpgradeOptionsSpec: { hostosUpgradeFailureAction: { action: "RETRY", retryCount: 1, retryDelay: 0 } },
    },
  ],
});

async function start(spec: UpgradeSpec): Promise<Task> {
  return expectData(await client.POST("/v1/upgrades", { body: spec }));
}

/** Reads the events of a task to the last one. Gives the names of all, and the status that the task ended with. */
async function follow(id: string): Promise<{ events: ReadonlySet<string>; status: TaskStatus }> {
  const { data, error } = await client.GET("/v1/tasks/{id}/events", { params: { path: { id } }, parseAs: "stream" });
  if (!data) throw new Error(error?.message ?? "no stream");
  const events = new Set<string>();
  let text = "";
  for await (const part of data.pipeThrough(new TextDecoderStream())) {
    text += part;
    const messages = text.split("\n\n");
    text = messages.pop() ?? "";
    for (const message of messages) {
      const name = /^event: (.*)$/m.exec(message)?.[1];
      if (name !== undefined) events.add(name);
      if (name !== "end") continue;
      const end = JSON.parse(/^data: (.*)$/m.exec(message)?.[1] ?? "{}") as components["schemas"]["TaskEnd"];
      return { events, status: end.status };
    }
  }
  throw new Error("The stream broke off.");
}

const read = async (id: string) => expectData(await client.GET("/v1/upgrades/{id}", { params: { path: { id } } }));

const draft = await start(upgradeTo(firstBundle, true));
const drafted = await read(draft.id);
const committed = await client.PATCH("/v1/upgrades/{id}", {
  params: { path: { id: draft.id } },
  body: { upgradeNow: true },
});
expectData(committed);
const { events, status } = await follow(draft.id);
const upgraded = await read(draft.id);

const second = await start(upgradeTo(secondBundle, false));
expectData(
  await client.PATCH("/v1/upgrades/{id}", { params: { path: { id: second.id } }, body: { markForCancellation: true } }),
);
const cancelled = await follow(second.id);

const query = { status: ["COMPLETED_WITH_SUCCESS" as const], resourceId: cluster };
const listed = expectData(await client.GET("/v1/upgrades", { params: { query } }));
const unknown = await client.GET("/v1/upgrades/{id}", {
  params: { path: { id: "00000000-0000-4000-8000-000000000000" } },
});

console.log(
  JSON.stringify({
    drafted: drafted.status,
    upgraded: [status, upgraded.status],
    followed: ["snapshot", "end"].every((name) => events.has(name)),
    cancelled: [cancelled.status, (await read(second.id)).status],
    listed: listed.elements?.map(({ id }) => id === draft.id),
    unknown: unknown.error?.errorCode,
  }),
);
