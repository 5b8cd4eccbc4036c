import type Router from "@koa/router";
import { answering } from "../http/answering";
import type { World } from "../state/world";
import { sessionHeader, userOf, withSession } from "./vlcm-calls";

/** Login, whoami and logout. Any credentials are good unless a LOGIN_REFUSED fault says otherwise. */
export function sessionRoutes(router: Router, world: World): void {
  const calls = withSession(router, world);

  router.post(
    "/session",
    answering(world, (call) => ({ status: 200, body: world.sessions.login(userOf(world, call), world.now()) })),
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
