import type Router from "@koa/router";
import { answering, type Call } from "../http/answering";
import type { World } from "../state/world";
import { VapiError } from "./vapi-error";
import { refuseByClockSkew, sessionHeader, withSession } from "./vlcm-calls";

/** The user of Basic credentials in which neither name nor password is empty. */
function basicUser(call: Call): string | undefined {
  const [, encoded] = /^Basic (.+)$/i.exec(String(call.headers["authorization"] ?? "")) ?? [];
  if (encoded === undefined) return undefined;
  const [, user] = /^([^:]+):.+$/s.exec(Buffer.from(encoded, "base64").toString("utf8")) ?? [];
  return user;
}

/** Login, whoami and logout. Any credentials are good unless a LOGIN_REFUSED fault says otherwise. */
export function sessionRoutes(router: Router, world: World): void {
  const calls = withSession(router, world);

  router.post(
    "/session",
    answering(world, (call) => {
      refuseByClockSkew(world);
      const refused = world.findFault(["LOGIN_REFUSED"]);
      if (refused) world.useFault(refused);
      const user = basicUser(call);
      if (refused || user === undefined)
        throw new VapiError("UNAUTHENTICATED", "session.invalid_login", "The user name or password is wrong.");
      return { status: 200, body: world.sessions.login(user, world.now()) };
    }),
  );

  calls.get("/session", ({ session }) => ({
    status: 200,
    body: {
      user: session.user,
      created_time: new Date(session.createdAt).toISOString(),
      last_accessed_time: new Date(session.lastAccessedAt).toISOString(),
    },
  }));

  calls.delete("/session", ({ headers }) => {
    world.sessions.logout(String(headers[sessionHeader]));
    return { status: 204 };
  });
}
