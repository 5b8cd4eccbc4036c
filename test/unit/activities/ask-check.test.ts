import type { Info } from "@temporalio/activity";
import { ApplicationFailure } from "@temporalio/common";
import { MockActivityEnvironment } from "@temporalio/testing";
import { expect } from "chai";
import { Webhook } from "standardwebhooks";
import { askCheck } from "../../../activities/checks/ask-check";
import type { CheckInput } from "../../../activities/contract";
import type { CheckDefinition } from "../../../src/domain/checks/check-definition";
import type { CheckAnswer } from "../../../src/domain/checks/own-check";
import { type CheckReply, CheckServer, vector } from "../../support/check-server";

const secret = `whsec_${Buffer.from("a secret of thirty-two bytes 123").toString("base64")}`;
const token = "s3cret-t0ken";
const input: CheckInput = {
  check: "slo",
  askId: "ask-1",
  at: "BEFORE_UPGRADE",
  intervalSeconds: 30,
  upgrade: { id: "u-1", name: "Upgrade a", bundleId: "b", resources: [{ resourceId: "r", name: "a" }] },
};
/** The last try of a check that gives no verdict. */
const lastTry = { attempt: 3 };

describe("askCheck", () => {
  let server: CheckServer;
  beforeEach(async () => {
    server = new CheckServer();
    await server.start();
  });
  afterEach(() => server.stop());

  const prometheus = (changes: object = {}): CheckDefinition => ({
    ...{ id: "slo", kind: "PROMETHEUS", url: server.url, token, timeoutSeconds: 5, emptyPasses: false },
    ...{ query: 'up{job="a b"}', condition: { operator: "GE", value: 1 } },
    ...changes,
  });
  const alertmanager = (): CheckDefinition => ({
    ...{ id: "slo", kind: "ALERTMANAGER", url: `${server.url}/`, timeoutSeconds: 5 },
    filter: ['severity="critical"', "team=~a|b"],
  });
  const webhook = (): CheckDefinition => ({
    ...{ id: "slo", kind: "WEBHOOK", url: server.url, timeoutSeconds: 5, secrets: [secret] },
  });
  const ask = (
    definition: CheckDefinition | undefined,
    reply: CheckReply,
    { info = lastTry, ...waited }: { info?: Partial<Info> } & Pick<CheckInput, "known" | "told" | "firstSeconds"> = {},
  ): Promise<CheckAnswer> => {
    server.replies = [reply];
    const asked = { ...input, ...waited };
    return new MockActivityEnvironment(info).run(() => askCheck(() => definition, asked));
  };
  const failure = async (asked: Promise<unknown>): Promise<ApplicationFailure> => {
    const thrown: unknown = await asked.then(
      (answer) => expect.fail(`should have failed: ${JSON.stringify(answer)}`),
      (error: unknown) => error,
    );
    if (!(thrown instanceof ApplicationFailure)) throw thrown;
    return thrown;
  };
  const unanswered = (text: string) => ({ verdict: "UNANSWERED", text });

  describe("PROMETHEUS", () => {
    it("passes where every sample of the instant query meets the condition", async () => {
      const answer = await ask(prometheus(), vector(["a", "1"], ["b", "2"]));
      expect(answer).to.deep.equal({ verdict: "PASSED", text: "2 samples >= 1." });
      const [{ method, url, headers } = expect.fail("was not asked")] = server.requests;
      expect([method, url.pathname]).to.deep.equal(["GET", "/secret-path/api/v1/query"]);
      expect(Object.fromEntries(url.searchParams)).to.deep.equal({ query: 'up{job="a b"}', timeout: "5s" });
      expect(headers.authorization).to.equal(`Bearer ${token}`);
    });

    it("names the samples that do not meet it", async () => {
      const samples = ["b", "c", "d", "e"].map((instance) => [instance, "0"] as const);
      expect(await ask(prometheus(), vector(["a", "1"], ...samples))).to.deep.equal({
        verdict: "FAILED",
        text: '4 of 5 samples not >= 1: up{instance="b"} is 0, up{instance="c"} is 0, up{instance="d"} is 0, and 1 more.',
      });
    });

    it("takes a scalar, infinities, and no NaN", async () => {
      const scalar = (value: string) =>
        ask(prometheus({ condition: { operator: "NE", value: 0 } }), {
          status: 200,
          body: { status: "success", data: { resultType: "scalar", result: [1, value] } },
        });
      expect((await scalar("-Inf")).verdict).to.equal("PASSED");
      expect((await scalar("0")).verdict).to.equal("FAILED");
      expect((await scalar("NaN")).verdict).to.equal("FAILED");
      expect((await scalar("")).verdict).to.equal("FAILED");
    });

    it("does not pass without samples, unless the inventory says so", async () => {
      expect((await ask(prometheus(), vector())).verdict).to.equal("FAILED");
      expect((await ask(prometheus({ emptyPasses: true }), vector())).verdict).to.equal("PASSED");
    });

    it("takes what is no answer of Prometheus for no verdict", async () => {
      const text = "Its answer is not that of an instant query with a vector or a scalar.";
      for (const body of [{ status: "error" }, { status: "success", data: { resultType: "matrix", result: [] } }, []])
        expect(await ask(prometheus(), { status: 200, body })).to.deep.equal(unanswered(text));
    });
  });

  describe("ALERTMANAGER", () => {
    const alert = (state: string, alertname = "HostDown") => ({
      labels: { alertname, instance: "esx-1" },
      status: { state, silencedBy: [], inhibitedBy: [] },
    });

    it("passes where no matching alert is active, by the published parameters", async () => {
      const answer = await ask(alertmanager(), { status: 200, body: [alert("suppressed")] });
      expect(answer).to.deep.equal({ verdict: "PASSED", text: "No matching alert is active." });
      const [{ url } = expect.fail("was not asked")] = server.requests;
      expect(url.pathname).to.equal("/secret-path/api/v2/alerts");
      expect([...url.searchParams]).to.deep.equal([
        ["active", "true"],
        ["silenced", "false"],
        ["inhibited", "false"],
        ["filter", 'severity="critical"'],
        ["filter", "team=~a|b"],
      ]);
    });

    it("names the alerts that are active, also one that is not processed yet", async () => {
      const body = [alert("active"), alert("unprocessed", "DiskFull")];
      expect(await ask(alertmanager(), { status: 200, body })).to.deep.equal({
        verdict: "FAILED",
        text: "2 alerts active: HostDown (esx-1), DiskFull (esx-1).",
      });
    });

    it("takes what is no list of alerts for no verdict", async () => {
      for (const body of [{}, [{ labels: {} }]])
        expect((await ask(alertmanager(), { status: 200, body })).verdict).to.equal("UNANSWERED");
    });
  });

  describe("WEBHOOK", () => {
    it("is asked by a CloudEvent that the library of Standard Webhooks verifies", async () => {
      const answer = await ask(webhook(), { status: 200, body: { passed: true, text: "Go on" } });
      expect(answer).to.deep.equal({ verdict: "PASSED", text: "Go on" });
      const [{ method, headers, body } = expect.fail("was not asked")] = server.requests;
      expect(method).to.equal("POST");
      const event = new Webhook(secret).verify(body, headers as Record<string, string>) as Record<string, unknown>;
      const { check, askId, at, upgrade } = input;
      expect(event).to.deep.include({ specversion: "1.0", id: "ask-1-3", type: "upgrade.check.asked" });
      expect(event["data"]).to.deep.equal({ check, askId, at, upgrade });
    });

    it("may refuse with a reason, or decide later", async () => {
      expect(
        await ask(webhook(), { status: 200, body: { passed: false, text: "No\u202e change\nticket" } }),
      ).to.deep.equal({
        verdict: "FAILED",
        text: "No  change ticket",
      });
      const later = { verdict: "LATER", text: "The board meets at 10" };
      expect(await ask(webhook(), { status: 202, body: { text: later.text } })).to.deep.equal(later);
      expect(await ask(webhook(), { status: 202, body: "" })).to.deep.equal({ verdict: "LATER", text: "" });
    });

    it("gives no verdict by a success alone", async () => {
      for (const [status, body] of [
        [204, ""],
        [200, { ok: true }],
        [200, { passed: "yes" }],
        [200, "<html>"],
      ] as const) {
        expect((await ask(webhook(), { status, ...(status !== 204 && { body }) })).verdict).to.equal("UNANSWERED");
      }
    });
  });

  describe("bounds", () => {
    it("follows no redirect, and tells every status that is no success", async () => {
      const headers = { location: `${server.url}/elsewhere` };
      expect(await ask(webhook(), { status: 307, headers })).to.deep.equal(
        unanswered("It answered 307, and redirects are not followed."),
      );
      expect(server.requests).to.have.length(1);
      expect(await ask(prometheus(), { status: 500, body: "x" })).to.deep.equal(unanswered("It answered 500."));
    });

    it("ends a check that hangs, before or in the middle of its answer", async () => {
      const text = "It did not answer within 0.2 s.";
      const quick = prometheus({ timeoutSeconds: 0.2 });
      expect(await ask(quick, () => undefined)).to.deep.equal(unanswered(text));
      const half = await ask(quick, (response) => void response.writeHead(200).write('{"status":'));
      expect(half).to.deep.equal(unanswered(text));
    });

    it("reads no answer of 100 MB", async () => {
      let sent = 0;
      const answer = await ask(prometheus(), (response) => {
        const part = Buffer.alloc(64 * 1024, 32);
        response.writeHead(200);
        const send = () => {
          while (sent < 100_000_000 && !response.destroyed) {
            sent += part.length;
            if (!response.write(part)) return void response.once("drain", send);
          }
          response.end();
        };
        send();
      });
      expect(answer).to.deep.equal(unanswered("Its answer is longer than 1 MiB, and was not read."));
      expect(sent).to.be.lessThan(50_000_000);
    });

    it("keeps 500 characters of what it says", async () => {
      const { text } = await ask(webhook(), { status: 200, body: { passed: false, text: "x".repeat(100_000) } });
      expect(text).to.have.length(500);
    });

    it("says nothing of its address and token where it is away", async () => {
      const definition = prometheus();
      await server.stop();
      const { verdict, text } = await ask(definition, vector());
      expect(verdict).to.equal("UNANSWERED");
      expect(text).to.equal("It is not reachable (ECONNREFUSED).");
    });
  });

  describe("retries by Temporal", () => {
    it("asks three times before no verdict counts, and takes a refusal at once", async () => {
      const away = { status: 500 };
      const retried = await failure(ask(prometheus(), away, { info: { attempt: 1 } }));
      expect([retried.message, retried.nonRetryable]).to.deep.equal(["It answered 500.", false]);
      await failure(ask(prometheus(), away, { info: { attempt: 2 } }));
      expect((await ask(prometheus(), away)).verdict).to.equal("UNANSWERED");
      expect((await ask(prometheus(), vector(["a", "0"]), { info: { attempt: 1 } })).verdict).to.equal("FAILED");
    });

    it("keeps back longer what it says the more often that has changed, and begins later where it is told to", async () => {
      const reply = vector(["a", "0"]);
      const waited = { known: "It answered 500.", told: 2, firstSeconds: 240 };
      const first = await failure(ask(prometheus(), reply, { ...waited, info: { attempt: 1 } }));
      expect(first.nextRetryDelay).to.equal(240_000);
      await failure(ask(prometheus(), reply, { ...waited, info: { attempt: 39 } }));
      expect(await ask(prometheus(), reply, { ...waited, info: { attempt: 40 } })).to.include({ verdict: "FAILED" });
    });

    it("goes on at its interval while a check that is waited for does not pass", async () => {
      const known = "It answered 500.";
      const first = await failure(ask(prometheus(), vector(["a", "1"]), { info: { attempt: 1 }, known }));
      expect(first.nextRetryDelay, "it was asked just before").to.equal(30_000);
      expect(server.requests).to.deep.equal([]);
      await failure(ask(prometheus(), vector(["a", "0"]), { info: { attempt: 2 }, known }));
      await failure(ask(prometheus(), { status: 500 }, { info: { attempt: 400 }, known }));
      expect((await ask(prometheus(), vector(["a", "1"]), { info: { attempt: 2 }, known })).verdict).to.equal("PASSED");
    });

    it("tells what it says now after ten of them, where that is something else", async () => {
      const other = await ask(prometheus(), vector(["a", "0"]), { info: { attempt: 10 }, known: "It answered 500." });
      expect(other.verdict).to.equal("FAILED");
    });

    it("takes a check that the worker's inventory does not have for no verdict", async () => {
      expect(await ask(undefined, vector())).to.deep.equal(unanswered("It is not in the worker's inventory."));
    });
  });
});
