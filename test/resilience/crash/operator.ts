import { setTimeout as pauseFor } from "node:timers/promises";
import type { Task } from "../../../src/domain/spec/task";
import type { Upgrade } from "../../../src/domain/spec/upgrade";
import { until } from "../../support/service/deployment";
import type { Answer, ServiceUnderTest } from "../../support/service/service-under-test";

/** A request that a crash may have cut off: what it was answered, if it was. */
export type SingleFlight<B = unknown> = Promise<Answer<B> | undefined>;

/** An operator, who sends again what a crash has left without an answer. */
export class Operator {
  constructor(readonly service: ServiceUnderTest) {}

  /** Sends a request and does not wait. */
  post(spec: unknown, key: string): SingleFlight<Task> {
    return this.service.post<Task>("/v1/upgrades", spec, { "idempotency-key": key }).catch(() => undefined);
  }

  send(method: "POST" | "PUT" | "PATCH" | "DELETE", path: string, body?: unknown): SingleFlight {
    return this.service.send(method, path, body).catch(() => undefined);
  }

  /** Starts an upgrade, with the same key until it is accepted; gives its id. */
  async start(spec: unknown, key: string): Promise<string> {
    let id: string | undefined;
    await until("the upgrade is accepted", async () => {
      const answer = await this.post(spec, key);
      if (answer?.status === 202) id = answer.body.id;
      else if (answer && answer.status !== 424 && answer.status < 500)
        throw new Error(`POST /v1/upgrades answered ${answer.status}: ${JSON.stringify(answer.body)}`);
      return id !== undefined;
    });
    return id ?? "";
  }

  /** Sends a request until it has had its effect, whoever of those that were sent had it. */
  async sendUntil(effect: (upgrade: Upgrade) => boolean, id: string, ...request: Parameters<Operator["send"]>) {
    await until(`${request[0]} ${request[1]} has its effect`, async () => {
      const { body } = await this.service.get<Upgrade>(`/v1/upgrades/${id}`).catch(() => ({ body: undefined }));
      if (body?.id === undefined) return false;
      if (!effect(body)) await this.send(...request);
      return effect(body);
    });
  }

  /** Sends a request that may be sent again until it is done. */
  untilDone(...request: Parameters<Operator["send"]>): Promise<void> {
    return until(`${request[0]} ${request[1]} is done`, async () => {
      const status = (await this.send(...request))?.status;
      return status === 200 || status === 204;
    });
  }

  upgradeIs(id: string, what: string, condition: (upgrade: Upgrade) => boolean): Promise<void> {
    return until(what, async () => condition((await this.service.get<Upgrade>(`/v1/upgrades/${id}`)).body));
  }

  /** Waits for a line of the simulator's ledger; `count` of them. */
  ledgerHas(step: string, count = 1): Promise<void> {
    return until(`${count} x ${step} is in the ledger`, async () => {
      return (await this.service.ledger()).filter((entry) => entry.step === step).length >= count;
    });
  }

  /** Throws where a host begins once what keeps it from that has been in force for its 5 seconds, for as long as a few hosts take. */
  async staysStill(): Promise<void> {
    await pauseFor(5_000);
    const begun = async () => (await this.service.ledger()).filter(({ step }) => step === "APPLY_STARTED").length;
    const before = await begun();
    await pauseFor(4_000);
    const more = (await begun()) - before;
    if (more > 0) throw new Error(`${more} hosts began although they were kept from it`);
  }

  /** Asks for a cancellation until it is known to have been received. */
  cancel(id: string): Promise<void> {
    return until("the cancellation is received", async () => {
      const answer = await this.send("DELETE", `/v1/tasks/${id}`);
      return answer?.status === 200 || answer?.status === 409;
    });
  }
}
