/** Asks the simulated management server with a login of its own; `path` is what follows `/api/`. Gives the status. */
export async function askAsSomebodyElse(url: string, method: string, path: string, body?: unknown): Promise<number> {
  const login = await fetch(`${url}/api/session`, {
    method: "POST",
    headers: { authorization: `Basic ${Buffer.from("other:secret").toString("base64")}` },
  });
  const answer = await fetch(`${url}/api/${path}`, {
    method,
    headers: { "vmware-api-session-id": (await login.json()) as string, "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return answer.status;
}
