import { Freeze, FreezeSpec, FreezeStatus } from "../../../domain/freeze";
import { type Component, object } from "../component";

/** Emergency stops. */
export const freezeModels = {
  FreezeSpec: object(FreezeSpec, "What is to be frozen, and why.", {
    reason: "Why; shown wherever something waits for the end of the freeze.",
    domains: "Ids of the domains. Absent: everything.",
    until: "When the freeze is lifted by itself. Absent: never.",
  }),
  Freeze: object(Freeze, "An emergency stop: of one domain, or of everything.", {
    reason: "Why it was frozen.",
    frozenBy: "Who has frozen it.",
    since: "Since when.",
    domain: "Id of the domain. Absent: everything.",
    until: "When it is lifted by itself. Absent: never.",
  }),
  FreezeStatus: object(FreezeStatus, "What is frozen now.", {
    frozen: "Whether anything is.",
    freezes: "The freezes in force, that of everything first.",
    hostsInWork:
      "How many hosts of running upgrades are finished all the same: of the frozen domains, or of all where nothing or everything is frozen. Absent where that cannot be told.",
  }),
} satisfies Readonly<Record<string, Component>>;
