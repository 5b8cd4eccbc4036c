const hour = 60 * 60 * 1000;

/** Between two reminders of a decision that nobody has taken. */
const betweenReminders = 24 * hour;

/** How long before its end the last reminder comes. */
const lastReminder = 4 * hour;

/**
 * When receivers are next reminded that a failed upgrade waits for a decision: each day, and for the last time four hours
 * before the time for it ends. Undefined where no reminder is left. All in epoch milliseconds: `since` it has waited, `until`
 * then it is given up.
 */
export function nextReminder(
  { since, until }: { readonly since: number; readonly until: number },
  now: number,
): number | undefined {
  const last = until - lastReminder;
  // Whoever has little time has just been told of the failure.
  if (last - since < lastReminder || now >= last) return undefined;
  const next = since + (Math.floor((now - since) / betweenReminders) + 1) * betweenReminders;
  return Math.min(next, last);
}
