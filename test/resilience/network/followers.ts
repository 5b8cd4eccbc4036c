import { spawn } from "node:child_process";
import { resolve } from "node:path";
import { expect } from "chai";
import { FollowedTask } from "../../support/followed-task";
import { until } from "../../support/service/deployment";
import type { NetworkLane } from "./network-lane";

/** Somebody who follows an upgrade through the proxy before the API. */
interface Follower {
  /** Resolves when it has been told of the upgrade. */
  readonly follows: () => Promise<void>;
  /** That it has been told of the end, and of all that was missed, without anybody's help. */
  readonly expectEnd: () => Promise<void>;
}

const root = resolve(__dirname, "../../..");
const behindProxy = ({ proxies }: NetworkLane) => `http://127.0.0.1:${proxies.clientToApi.port}`;

/** Each begins to follow an upgrade. */
export const followers = { upgradectl, browser } as const satisfies Record<
  string,
  (lane: NetworkLane, id: string) => Follower
>;

/** `upgradectl watch`. */
function upgradectl(lane: NetworkLane, id: string): Follower {
  const { PATH, HOME } = process.env;
  const child = spawn(process.execPath, ["dist/src/cli/upgradectl.js", "watch", id], {
    cwd: root,
    env: {
      PATH,
      HOME,
      UPGRADECTL_SERVER: behindProxy(lane),
      UPGRADECTL_CONFIG: resolve(root, ".data/no-such-config.json"),
    },
  });
  // It ends with its upgrade; where that does not end, with this process.
  child.unref();
  process.once("exit", () => child.kill());
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
  let code: number | null | undefined;
  child.once("close", (ended) => (code = ended));
  return {
    follows: () => until("upgradectl follows", () => output.includes("HOSTOS")),
    expectEnd: async () => {
      await until("upgradectl has ended", () => code !== undefined, 120);
      expect(code, output).to.equal(0);
      expect(output, `of ${lane.service.apiUrl}`).to.contain("Successful");
    },
  };
}

/** The event stream, as a browser reads it that has nothing else. */
function browser(lane: NetworkLane, id: string): Follower {
  const followed = new FollowedTask(`${behindProxy(lane)}/v1/tasks/${id}/events`);
  return {
    follows: () => until("the browser is told of hosts", () => followed.task?.subTasks !== undefined),
    expectEnd: async () => {
      try {
        await until("the browser is told of the end", () => followed.hasEnded, 120);
        expect(followed.task).to.deep.equal(await lane.service.task(id));
      } finally {
        followed.close();
      }
    },
  };
}
