import { fork } from "node:child_process";
import { join } from "node:path";
import type { UpgradePlan } from "../../src/domain/plan/upgrade-plan";
import type { Fixture } from "../fixture";

/** A process whose API does no more for a POST than to start the Workflow of that plan. */
export class BareApi {
  private constructor(
    readonly url: string,
    readonly pid: number,
    readonly stop: () => void,
  ) {}

  static async start({ service }: Fixture, plan: UpgradePlan): Promise<BareApi> {
    const program = join(__dirname, "bare-api-process.mjs");
    const child = fork(program, { execArgv: [], serialization: "advanced" });
    const { address, namespace, tls } = service.temporalPlace;
    child.send({ plan, address, namespace, tls });
    const url = await new Promise<string>((resume, reject) => {
      child.once("message", (message) => resume((message as { url: string }).url));
      child.once("exit", () => reject(new Error("The bare API ended at its start")));
    });
    return new BareApi(url, child.pid ?? 0, () => child.disconnect());
  }
}
