/**
 * How many calls a process makes to one interface of a component manager at a time; more wait for their turn, which does
 * not count as time of the call. Thousands of hosts may become due at once, and a manager that gets a connection for each of
 * them answers none in time.
 */
export const callsAtOnce = 64;
