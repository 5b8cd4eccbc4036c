import { assessNow, connectionState } from "./find-remediation";
import { hostFailure, type RemediationContext } from "./remediation-context";

/** Waits until a remediated host is back. Throws HOST_NOT_RECONNECTED where it stays away too long. */
export async function awaitReconnect(context: RemediationContext): Promise<void> {
  const { client, patience, progress, input, limits } = context;
  progress.begin("RECONNECT", "Waiting until the host is connected.");
  const began = Date.now();
  for (let round = 0; ; round++) {
    const state = await connectionState(client, patience, input.cluster.cluster, input.host.host);
    if (state === "CONNECTED") return;
    progress.note(`Waiting for the host, which is ${state}.`);
    if (Date.now() - began >= limits.reconnect) throw hostFailure(context, "HOST_NOT_RECONNECTED", `is ${state}`);
    await patience.pause(round);
  }
}

/** Gives the version of a host that is at the target. Throws HOST_NOT_AT_TARGET where it is not. */
export async function verifyHost(context: RemediationContext): Promise<string> {
  const { client, patience, progress, input, limits } = context;
  progress.begin("VERIFY", "Comparing the host with the target image.");
  const began = Date.now();
  for (let round = 0; ; round++) {
    const { atTarget, conclusive, version, compliance } = await assessNow(client, patience, input, true);
    if (atTarget) return version;
    // Just after a restart a host cannot always be scanned.
    if (conclusive || Date.now() - began >= limits.reconnect) {
      const found = `has version ${version || "unknown"} and is ${compliance || "not scanned"}`;
      throw hostFailure(context, "HOST_NOT_AT_TARGET", found);
    }
    await patience.pause(round);
  }
}
