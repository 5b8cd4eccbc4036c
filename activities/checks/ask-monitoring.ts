import * as E from "fp-ts/Either";
import * as t from "io-ts";
import type { CheckDefinition, CheckOperator } from "../../src/domain/checks/check-definition";
import type { CheckAnswer } from "../../src/domain/checks/own-check";
import { fetchJson } from "./check-http";

type PrometheusCheck = Extract<CheckDefinition, { readonly kind: "PROMETHEUS" }>;
type AlertmanagerCheck = Extract<CheckDefinition, { readonly kind: "ALERTMANAGER" }>;

/** How many samples or alerts a text names. */
const named = 3;

const Labels = t.record(t.string, t.string);
const Sample = t.tuple([t.number, t.string]);

/** An instant query's answer (https://prometheus.io/docs/prometheus/latest/querying/api/). */
const QueryAnswer = t.type({
  status: t.literal("success"),
  data: t.union([
    t.type({ resultType: t.literal("vector"), result: t.array(t.type({ metric: Labels, value: Sample })) }),
    t.type({ resultType: t.literal("scalar"), result: Sample }),
  ]),
});

/** Alerts of Alertmanager's API v2 (its OpenAPI document). */
const Alerts = t.array(t.type({ labels: Labels, status: t.type({ state: t.string }) }));

/** Asks Prometheus an instant query: it passes where every sample meets the condition. */
export async function askPrometheus(check: PrometheusCheck, signal?: AbortSignal): Promise<CheckAnswer> {
  const { query, condition, emptyPasses, timeoutSeconds } = check;
  const parameters = new URLSearchParams({ query, timeout: `${timeoutSeconds}s` });
  const response = await get(check, `api/v1/query?${parameters.toString()}`, signal);
  if (E.isLeft(response)) return unanswered(response.left);
  const decoded = QueryAnswer.decode(response.right.json);
  if (E.isLeft(decoded)) return unanswered("Its answer is not that of an instant query with a vector or a scalar.");
  const { data } = decoded.right;
  const samples = data.resultType === "vector" ? data.result : [{ metric: {}, value: data.result }];
  const wanted = `${signs[condition.operator]} ${condition.value}`;
  if (samples.length === 0)
    return emptyPasses
      ? { verdict: "PASSED", text: "The query has no samples." }
      : { verdict: "FAILED", text: "The query has no samples." };
  const wrong = samples.filter(({ value: [, value] }) => !meets(value, condition));
  if (wrong.length === 0) return { verdict: "PASSED", text: `${count(samples.length, "sample")} ${wanted}.` };
  const told = wrong.slice(0, named).map(({ metric, value: [, value] }) => `${labelled(metric)} is ${value}`);
  return {
    verdict: "FAILED",
    text: `${wrong.length} of ${count(samples.length, "sample")} not ${wanted}: ${listed(told, wrong.length)}.`,
  };
}

/** Asks Alertmanager for alerts that are neither silenced nor inhibited: it passes where no such alert is active. */
export async function askAlertmanager(check: AlertmanagerCheck, signal?: AbortSignal): Promise<CheckAnswer> {
  const parameters = new URLSearchParams({ active: "true", silenced: "false", inhibited: "false" });
  for (const matcher of check.filter) parameters.append("filter", matcher);
  const response = await get(check, `api/v2/alerts?${parameters.toString()}`, signal);
  if (E.isLeft(response)) return unanswered(response.left);
  const decoded = Alerts.decode(response.right.json);
  if (E.isLeft(decoded)) return unanswered("Its answer is not a list of alerts.");
  const active = decoded.right.filter(({ status }) => status.state !== "suppressed");
  if (active.length === 0) return { verdict: "PASSED", text: "No matching alert is active." };
  const told = active.slice(0, named).map(({ labels: { alertname = "alert", ...labels } }) => {
    const about = labels["instance"] ?? labels["cluster"];
    return about === undefined ? alertname : `${alertname} (${about})`;
  });
  return { verdict: "FAILED", text: `${count(active.length, "alert")} active: ${listed(told, active.length)}.` };
}

function get({ url, token, timeoutSeconds }: PrometheusCheck | AlertmanagerCheck, path: string, signal?: AbortSignal) {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return fetchJson({ url: `${url.replace(/\/+$/, "")}/${path}`, method: "GET", headers, timeoutSeconds, signal });
}

const signs: Readonly<Record<CheckOperator, string>> = { LT: "<", LE: "<=", EQ: "=", NE: "!=", GE: ">=", GT: ">" };

/** What is no number meets nothing. */
function meets(text: string, { operator, value }: PrometheusCheck["condition"]): boolean {
  const sample = { "+Inf": Infinity, "-Inf": -Infinity }[text] ?? (text.trim() === "" ? NaN : Number(text));
  if (Number.isNaN(sample)) return false;
  switch (operator) {
    case "LT":
      return sample < value;
    case "LE":
      return sample <= value;
    case "EQ":
      return sample === value;
    case "NE":
      return sample !== value;
    case "GE":
      return sample >= value;
    case "GT":
      return sample > value;
  }
}

function labelled(metric: Readonly<Record<string, string>>): string {
  const labels = Object.entries(metric).filter(([name]) => name !== "__name__");
  const name = metric["__name__"] ?? "";
  return labels.length === 0 ? name || "it" : `${name}{${labels.map(([key, its]) => `${key}="${its}"`).join(", ")}}`;
}

function listed(told: readonly string[], all: number): string {
  return `${told.join(", ")}${all > told.length ? `, and ${all - told.length} more` : ""}`;
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? "" : "s"}`;
}

function unanswered(text: string): CheckAnswer {
  return { verdict: "UNANSWERED", text };
}
