import type { Vim25Client } from "../../drivers/vim25/vim25-client";
import type { VlcmClient } from "../../drivers/vlcm/vlcm-client";
import type { HostMaintenance } from "../host-maintenance";
import type { RemediationContext } from "../remediate-hosts";

/** The interfaces of the component manager of an image-managed cluster. */
export interface ImageInterfaces {
  readonly client: VlcmClient;
  /** The management interface of the same component manager, which alone knows single virtual machines. */
  readonly management: Vim25Client;
  readonly maintenance: HostMaintenance;
}

/** What every step of the remediation of hosts by their image works with. */
export interface ImageContext extends RemediationContext, ImageInterfaces {}

/** Hosts as a part of a sentence. */
export function hostsIn({ input }: Pick<ImageContext, "input">, places: readonly number[]): string {
  return input.hosts.length === 1 ? "the host" : `${places.length} hosts`;
}
