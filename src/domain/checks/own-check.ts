import * as t from "io-ts";
import { model } from "../codec";
import type { ErrorBody } from "../errors";
import type { MaintenancePlace } from "../opening";
import { Legible } from "../legible";

/** What answers a check of the inventory. */
export type CheckKind = "PROMETHEUS" | "ALERTMANAGER" | "WEBHOOK";

/**
 * When a check is asked. BEFORE_UPGRADE: before the first resource of an upgrade begins. BEFORE_HOST, AFTER_HOST: before and after
 * each host of a cluster, or those that are in work at once. AFTER_RESOURCE: when a resource is upgraded, before the next one begins.
 */
export const checkPoints = ["BEFORE_UPGRADE", "BEFORE_HOST", "AFTER_HOST", "AFTER_RESOURCE"] as const;
export type CheckPoint = (typeof checkPoints)[number];

/**
 * What follows where a check does not pass. WAIT: it is asked again until it passes. PAUSE: the upgrade pauses, and whoever
 * resumes it accepts that. FAIL: the upgrade fails.
 */
export type CheckFailureAction = "WAIT" | "PAUSE" | "FAIL";

/** A check of the inventory as an upgrade plans it: without address, question and secrets, which stay with the workers. */
export interface PlannedCheck {
  readonly id: string;
  readonly kind: CheckKind;
  readonly at: readonly CheckPoint[];
  readonly onFailure: CheckFailureAction;
  /** Seconds between two asks of a check that is waited for. */
  readonly intervalSeconds: number;
  /** Minutes that a webhook has to decide after its answer 202. */
  readonly decideMinutes: number;
  /** Ids of the domains whose upgrades it is for; absent means all. */
  readonly domains?: readonly string[];
}

/**
 * What became of one ask. UNANSWERED: no verdict was to be had, which counts as not passed. LATER: a webhook decides by a
 * Signal. `text` is what the check said, or what is wrong with its answer, without its address.
 */
export interface CheckAnswer {
  readonly verdict: "PASSED" | "FAILED" | "UNANSWERED" | "LATER";
  readonly text: string;
}

/** Names one ask of a resource, or of the upgrade itself where there is none. `unique` has no slash. */
export function askIdOf(resourceId: string | undefined, unique: string): string {
  return resourceId === undefined ? unique : `${resourceId}/${unique}`;
}

/** The resource that has asked; undefined where it was the upgrade itself. */
export function resourceOfAsk(askId: string): string | undefined {
  const end = askId.lastIndexOf("/");
  return end < 0 ? undefined : askId.slice(0, end);
}

/** The later decision of a webhook. A codec, because anybody can send a Signal. */
export const CheckDecision = model({ askId: t.string, passed: t.boolean }, { text: Legible });
export type CheckDecision = t.TypeOf<typeof CheckDecision>;

/** The most characters that are kept of what a check says. */
const longestText = 500;

/** What a check said, as it is kept. */
export function checkText(text: string): string {
  return text.length > longestText ? `${text.slice(0, longestText - 1)}…` : text;
}

/** The checks that an upgrade of resources at these places asks. */
export function checksFor(checks: readonly PlannedCheck[], places: readonly MaintenancePlace[]): PlannedCheck[] {
  const concerned = new Set(places.map(({ domain }) => domain));
  return checks.filter(({ domains }) => domains?.some((domain) => concerned.has(domain)) ?? true);
}

/** Why a check keeps an upgrade from going on. */
export function checkError({ id, onFailure }: PlannedCheck, { verdict, text }: CheckAnswer): ErrorBody {
  const message = text === "" ? "it gave no reason" : text;
  const next = {
    WAIT: "The check is asked again until it passes.",
    PAUSE: "Resume the upgrade to continue without it, or cancel it.",
    FAIL: "Retry the upgrade when the check passes.",
  }[onFailure];
  const hasVerdict = verdict !== "UNANSWERED";
  return {
    errorCode: hasVerdict ? "CHECK_FAILED" : "CHECK_UNANSWERED",
    errorType: "FAILED_DEPENDENCY",
    message: `Check ${id} ${hasVerdict ? "did not pass" : "gave no verdict"}: ${message}`,
    remediationMessage: `Fix what the check names. ${next}`,
    context: { check: id },
  };
}

/** Checks that the Workflow of a resource asks, and what it tells them of its upgrade beside the resource. */
export interface ResourceChecksPlan {
  readonly upgradeName: string;
  readonly bundleId: string;
  readonly checks: readonly PlannedCheck[];
}
