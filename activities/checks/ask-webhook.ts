import * as E from "fp-ts/Either";
import * as t from "io-ts";
import type { CheckDefinition } from "../../src/domain/checks/check-definition";
import type { CheckAnswer } from "../../src/domain/checks/own-check";
import { toTimestamp } from "../../src/domain/timestamp";
import type { CheckInput } from "../contract";
import { signedEvent } from "../notifications/notification-message";
import { fetchJson } from "./check-http";

type WebhookCheck = Extract<CheckDefinition, { readonly kind: "WEBHOOK" }>;

const Verdict = t.intersection([t.type({ passed: t.boolean }), t.partial({ text: t.string })]);

/** Accepts the question now, and decides by the Signal. */
const later = 202;

/**
 * Asks a webhook by a CloudEvent that is signed as notifications are. It answers 200 with `{"passed": …, "text": …}`, or 202 and
 * sends the Signal `checkDecided` later. `attempt`: each is a question of its own, with the same `askId`.
 */
export async function askWebhook(
  { url, secrets, timeoutSeconds }: WebhookCheck,
  { check, askId, at, upgrade }: CheckInput,
  { attempt, signal }: { readonly attempt: number; readonly signal?: AbortSignal },
): Promise<CheckAnswer> {
  const now = Date.now();
  const event = {
    id: `${askId}-${attempt}`,
    type: "upgrade.check.asked",
    source: `/v1/upgrades/${upgrade.id}`,
    subject: upgrade.id,
    time: toTimestamp(now),
    data: { check, at, askId, upgrade },
  };
  const response = await fetchJson({
    ...{ url, method: "POST", timeoutSeconds, signal },
    ...signedEvent(event, secrets, now),
    acceptsEmpty: later,
  });
  if (E.isLeft(response)) return { verdict: "UNANSWERED", text: response.left };
  const { status, json } = response.right;
  if (status === later) return { verdict: "LATER", text: E.getOrElse(() => "")(textOf(json)) };
  const decoded = Verdict.decode(json);
  if (E.isLeft(decoded)) return { verdict: "UNANSWERED", text: `It answered ${status} without "passed".` };
  const { passed, text = "" } = decoded.right;
  return { verdict: passed ? "PASSED" : "FAILED", text };
}

function textOf(json: unknown): E.Either<unknown, string> {
  return E.map(({ text }: { readonly text: string }) => text)(t.type({ text: t.string }).decode(json));
}
