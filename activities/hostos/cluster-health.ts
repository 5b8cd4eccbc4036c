import { redStatuses } from "../baseline/red-statuses";
import { completeTask } from "../complete-task";
import type { ClusterTarget } from "../contract";
import type { Vim25Client } from "../drivers/vim25/vim25-client";
import { checkFindings } from "../drivers/vlcm/check-findings";
import type { VlcmClient } from "../drivers/vlcm/vlcm-client";
import type { HostSummary } from "../drivers/vlcm/vlcm-models";
import type { RetryPolicy } from "../retry-policy";
import type { HostMaintenance } from "./host-maintenance";

export interface ClusterHealthDependencies {
  clientOf(componentManagerId: string): VlcmClient;
  /** The management interface, which knows the health of clusters without an image. */
  managementOf(componentManagerId: string): Vim25Client;
  maintenanceOf(componentManagerId: string): HostMaintenance;
}

/** What the cheap looks say. Where they find nothing in an image-managed cluster, its own check has the last word. */
interface FirstLook {
  readonly problems: readonly string[];
  readonly hosts: readonly HostSummary[];
  readonly needsCheck: boolean;
}

/** What is not green in a cluster, each as a sentence; the dearer looks only where the cheaper ones find nothing. */
export class ClusterHealth {
  readonly #dependencies: ClusterHealthDependencies;
  readonly #retryPolicy: RetryPolicy;
  readonly #target: ClusterTarget;

  constructor(dependencies: ClusterHealthDependencies, retryPolicy: RetryPolicy, target: ClusterTarget) {
    this.#dependencies = dependencies;
    this.#retryPolicy = retryPolicy;
    this.#target = target;
  }

  /** `check`: a check that was asked for just now and has not been looked at. */
  async problems(check?: string): Promise<readonly string[]> {
    const look = await this.firstLook();
    return look.needsCheck ? this.checkProblems(look, check ?? (await this.startCheck())) : look.problems;
  }

  async firstLook(): Promise<FirstLook> {
    const { cluster, componentManagerId } = this.#target.cluster;
    const [hosts, inside] = await Promise.all([
      this.#retryPolicy.retry(() => this.#client.listHosts(cluster)),
      this.#dependencies.maintenanceOf(componentManagerId).inMaintenance(cluster, this.#retryPolicy),
    ]);
    const away = hosts
      .filter(({ connection_state, power_state }) => connection_state !== "CONNECTED" || power_state !== "POWERED_ON")
      .map(
        (host) =>
          `Host ${host.name} is ${host.connection_state === "CONNECTED" ? host.power_state : host.connection_state}.`,
      );
    const kept = hosts
      .filter(({ host }) => inside.has(host))
      .map((host) => `Host ${host.name} is in maintenance mode.`);
    if (away.length + kept.length > 0) return { problems: [...away, ...kept], hosts, needsCheck: false };
    if (this.#target.kind !== "BASELINE") return { problems: [], hosts, needsCheck: true };
    const management = this.#dependencies.managementOf(componentManagerId);
    const red = await redStatuses(management, this.#retryPolicy, cluster);
    return { problems: red.map((title) => `${title} has the status red.`), hosts, needsCheck: false };
  }

  /** Asks for the component manager's own check; gives its task. */
  startCheck(): Promise<string> {
    return this.#retryPolicy.retry(() => this.#client.check(this.#target.cluster.cluster));
  }

  /** Waits for a check's end. */
  async checkProblems({ hosts }: Pick<FirstLook, "hosts">, check: string): Promise<readonly string[]> {
    const { name } = this.#target.cluster;
    const task = await completeTask(this.#client, this.#retryPolicy, check);
    const found = task && checkFindings(task);
    if (!found) return [`The health check of ${name} gave no result.`];
    const nameOf = (id: string) => hosts.find(({ host }) => host === id)?.name ?? id;
    return found.map(({ host, check, issue }) => `${host === undefined ? name : nameOf(host)}: ${check}: ${issue}`);
  }

  get #client(): VlcmClient {
    return this.#dependencies.clientOf(this.#target.cluster.componentManagerId);
  }
}
