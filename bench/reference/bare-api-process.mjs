// The least API that starts an upgrade by a POST: Koa, the JSON of the request, one start. It knows the plan beforehand, asks
// nobody, checks and logs nothing. A key is the id of what it starts. Told where Temporal is, it tells its URL, and ends with the process that has forked it.
import { createRequire } from "node:module";
import { json } from "node:stream/consumers";
import { WorkflowExecutionAlreadyStartedError } from "@temporalio/client";
import Koa from "koa";

const require = createRequire(import.meta.url);
const { lazyClient } = require("../../dist/src/temporal/connection.js");
const { startWorkflow } = require("../../dist/src/temporal/upgrade-executions.js");

process.on("disconnect", () => process.exit());
const { plan, address, namespace, tls } = await new Promise((resume) => process.once("message", resume));
const client = lazyClient({ address, namespace, connection: { address, ...(tls && { tls }) } }, {});
const api = new Koa().use(async (context) => {
  const { resourceUpgradeSpecs } = await json(context.req);
  const id = context.get("idempotency-key");
  try {
    await startWorkflow(client, { ...plan, id }, { requestedBy: "bench" });
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
  context.status = 202;
  context.body = { id, name: plan.name, status: "Pending", resources: resourceUpgradeSpecs.length };
});
const server = api.listen(0, "127.0.0.1", () => process.send?.({ url: `http://127.0.0.1:${server.address().port}` }));
