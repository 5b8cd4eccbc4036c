import { assessHosts, stateAmong } from "./find-remediation";
import type { HostsRemediationContext } from "./hosts-context";

/** Waits until every remediated host is connected and found at the target; those that are not in time have failed. */
export async function verifyHosts({
  client,
  patience,
  progress,
  input,
  limits,
}: HostsRemediationContext): Promise<void> {
  const { cluster } = input.cluster;
  const idOf = (place: number) => input.hosts[place]?.host ?? "";
  const began = Date.now();
  for (let round = 0; ; round++) {
    const places = progress.inPhase("RECONNECTING");
    if (places.length === 0) return;
    progress.note(`Waiting until ${places.length} hosts are connected and verified.`);
    const isOver = Date.now() - began >= limits.reconnect;
    const listed = await patience.persist(() => client.listHosts(cluster));
    const stateOf = (place: number) => stateAmong(listed, idOf(place));
    const here = places.filter((place) => stateOf(place) === "CONNECTED");
    for (const place of isOver ? places.filter((p) => !here.includes(p)) : [])
      progress.fail(place, { code: "HOST_NOT_RECONNECTED", what: `is ${stateOf(place)}.`, stage: "RECONNECT" });
    const assessed = here.length > 0 ? await assessHosts(client, patience, input, here.map(idOf), true) : [];
    here.forEach((place, i) => {
      const found = assessed[i];
      if (found?.atTarget) return progress.move([place], "EXITING_MAINTENANCE");
      if (!found?.conclusive && !isOver) return;
      const what = `has version ${found?.version || "unknown"} and is ${found?.compliance || "not scanned"}.`;
      progress.fail(place, { code: "HOST_NOT_AT_TARGET", what, stage: "VERIFY" });
    });
    if (progress.inPhase("RECONNECTING").length > 0) await patience.pause(round);
  }
}
