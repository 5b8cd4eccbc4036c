// A receiver of notifications: `node examples/receive-notifications.mjs SECRET_FILE [PORT]`. It takes what is signed by
// the secret, and prints what each says, once (docs/notifications.md).
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { Webhook } from "standardwebhooks";

const [secretFile, port = "8070"] = process.argv.slice(2);
const webhook = new Webhook(readFileSync(secretFile, "utf8").trim());
const seen = new Set();

const server = createServer(async (request, response) => {
  const body = await text(request);
  try {
    webhook.verify(body, request.headers);
  } catch {
    response.writeHead(401).end();
    return;
  }
  response.writeHead(204).end();
  const { id, type, data } = JSON.parse(body);
  if (seen.has(id)) return;
  seen.add(id);
  const { name = "", errors = [] } = data;
  console.log(`${type.padEnd(20)} ${name}`);
  for (const { message, remediationMessage } of errors) {
    console.log(`  ${message}`);
    if (remediationMessage) console.log(`  What to do: ${remediationMessage}`);
  }
});
server.listen(Number(port), "127.0.0.1", () => console.log(`Listens at http://127.0.0.1:${server.address().port}/`));
