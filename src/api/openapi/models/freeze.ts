import { Freeze, FreezeSpec, FreezeStatus } from "../../../domain/freeze";
import { type Component, object } from "../component";

/** Emergency stops. */
export const freezeModels = {
  FreezeSpec: object(FreezeSpec, "What to freeze, and why.", {
    reason: "The reason, shown wherever something waits for the end of the freeze.",
    domains: "Ids of the domains. Absent: everything.",
    until: "When the freeze is lifted automatically. Absent: never.",
  }),
  Freeze: object(Freeze, "An emergency stop: of one domain, or of everything.", {
    reason: "Why it was frozen.",
    frozenBy: "Who froze it.",
    since: "When it began.",
    domain: "Id of the domain. Absent: everything.",
    until: "When it is lifted automatically. Absent: never.",
  }),
  FreezeStatus: object(FreezeStatus, "What is frozen now.", {
    frozen: "Whether anything is frozen.",
    freezes: "The freezes in force, that of everything first.",
    hostsInWork:
      "How many hosts are in work and still finish: in the frozen domains, or in all domains if nothing or everything is frozen. Absent if unknown.",
  }),
} satisfies Readonly<Record<string, Component>>;
