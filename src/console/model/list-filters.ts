import { toTimestamp } from "../../domain/timestamp";
import { phaseWords } from "../../domain/upgrade/phase-words";
import { type Age, type ListView, phasesOfTab } from "./page-address";

const day = 86_400_000;

/** What the choice of an age is called, and how far it goes back. */
export const ageWords: Readonly<Record<Age, { readonly words: string; readonly milliseconds: number }>> = {
  "1d": { words: "the last 24 hours", milliseconds: day },
  "7d": { words: "the last 7 days", milliseconds: 7 * day },
  "30d": { words: "the last 30 days", milliseconds: 30 * day },
  "90d": { words: "the last 90 days", milliseconds: 90 * day },
};

/** The query parameters of a view that choose upgrades, whatever their phase. `now` in epoch milliseconds. */
export function filterParameters(
  { search, bundleId, resourceId, changeId, label, createdBy, created }: ListView,
  now: number,
): Readonly<Record<string, string>> {
  return {
    ...(search && { search }),
    ...(bundleId && { bundleId }),
    ...(resourceId && { resourceId }),
    ...(changeId && { changeId }),
    ...(label && { label }),
    ...(createdBy && { createdBy }),
    // To the minute, so that the same list has the same address for a while.
    ...(created && { createdSince: toTimestamp(Math.floor((now - ageWords[created].milliseconds) / 60_000) * 60_000) }),
  };
}

/** The query parameter of the phases that a view shows. */
export function phaseParameter({ tab = "ALL", phase }: ListView): Readonly<Record<string, string>> {
  const phases = phase === undefined ? phasesOfTab(tab) : [phase];
  return phases ? { phase: phases.join(",") } : {};
}

/** A filter that is on, in words. */
export interface FilterChip {
  readonly name: "search" | "bundleId" | "resourceId" | "phase" | "label" | "changeId" | "createdBy" | "created";
  readonly words: string;
}

interface NamesById {
  readonly bundle: (id: string) => string;
  readonly cluster: (id: string) => string;
}

/** The filters that are on, in the order of the form. */
export function filterChips(view: ListView, names: NamesById): FilterChip[] {
  const { search, bundleId, resourceId, phase, label, changeId, createdBy, created } = view;
  return [
    ...(search ? [{ name: "search" as const, words: `Search: ${search}` }] : []),
    ...(bundleId ? [{ name: "bundleId" as const, words: `Bundle: ${names.bundle(bundleId)}` }] : []),
    ...(resourceId ? [{ name: "resourceId" as const, words: `Cluster: ${names.cluster(resourceId)}` }] : []),
    ...(phase ? [{ name: "phase" as const, words: `Status: ${phaseWords[phase]}` }] : []),
    ...(label ? [{ name: "label" as const, words: `Label: ${label}` }] : []),
    ...(changeId ? [{ name: "changeId" as const, words: `Change: ${changeId}` }] : []),
    ...(createdBy ? [{ name: "createdBy" as const, words: `Created by: ${createdBy}` }] : []),
    ...(created ? [{ name: "created" as const, words: `Created in ${ageWords[created].words}` }] : []),
  ];
}
