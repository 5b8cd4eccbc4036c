import { isInScope } from "../../src/domain/plan/host-scope";
import type { Vim25Client } from "../drivers/vim25/vim25-client";
import type { Vim25Host, Vim25Vm } from "../drivers/vim25/vim25-models";
import { advise, adviseOnCertificate, adviseOnClock } from "./advice";
import { type AnyPrecheckInput, type Finding, findingsOf, type Precheck } from "./run-checks";

/** What the checks that advise on clusters of both kinds work with. */
export interface ClusterAdviceInput extends AnyPrecheckInput {
  readonly management: Vim25Client;
  /** How many hosts are in work at once; absent where their virtual machines are switched off instead of moved. */
  readonly hostsAtOnce?: number | undefined;
}

/** Hosts that the upgrade is about and that can be asked. */
async function readHosts({ management, target }: ClusterAdviceInput): Promise<readonly Vim25Host[]> {
  const hosts = await management.listHosts(target.cluster.cluster);
  return hosts.filter(
    ({ host, connection, inMaintenanceMode }) =>
      connection === "connected" && !inMaintenanceMode && isInScope(target.scope, host),
  );
}

const aboutHost = ({ host, name }: Vim25Host) => ({ host: { id: host, name } });

/** As many hosts can be empty at the same time as the rollout takes, and every virtual machine can move. */
function roomForRollout<I extends ClusterAdviceInput>(): Precheck<I> {
  return {
    type: "ROOM_FOR_ROLLOUT",
    name: "Room for the hosts in work",
    description:
      "As many hosts as are upgraded at once can be emptied at the same time, and no virtual machine is bound to its host.",
    needs: ["COMPONENT_MANAGER_REACHABLE"],
    run: async (input) => {
      const { hostsAtOnce, retryPolicy } = input;
      if (hostsAtOnce === undefined) return [];
      const judge = (room: Room) => adviseOnRoom(input, hostsAtOnce, room);
      return findingsOf(input, await advise(retryPolicy, () => readRoom(input), judge));
    },
  };
}

type Room = Awaited<ReturnType<typeof readRoom>>;

/** The plan of the product's scheduler, which it makes only where it is on. */
async function readRoom(input: ClusterAdviceInput) {
  const { management, target } = input;
  const { cluster } = target.cluster;
  const hosts = await readHosts(input);
  const running = (await management.listVms(cluster)).filter(({ power }) => power === "poweredOn");
  const { settings } = await management.readCluster(cluster);
  const mustMove = hosts.length > 0 && running.length > 0;
  const ids = hosts.map(({ host }) => host);
  const plan = mustMove && settings.drs?.enabled === true ? await management.planEvacuation(cluster, ids) : undefined;
  return { hosts, running, mustMove, plan };
}

function adviseOnRoom(
  { target }: ClusterAdviceInput,
  hostsAtOnce: number,
  { hosts, running, mustMove, plan }: Room,
): readonly Finding[] {
  const { name } = target.cluster;
  if (!mustMove) return [];
  // A baseline-managed cluster has a check of its own for this.
  if (!plan) return target.kind === "IMAGE" ? [nothingMoves(name, running.length)] : [];
  const wanted = Math.min(hostsAtOnce, hosts.length);
  const bound = plan.obstacles.flatMap(({ vm: id, reasons }) => {
    const vm = running.find((one) => one.vm === id);
    const host = hosts.find((one) => one.host === vm?.host);
    return vm && host ? [cannotMove(vm, host, reasons[0])] : [];
  });
  if (plan.hosts.length >= wanted) return bound;
  const reason = plan.obstacles.find(({ vm }) => vm === undefined)?.reasons[0];
  return [tooLittleRoom(name, { wanted, possible: plan.hosts.length, reason }), ...bound];
}

function nothingMoves(cluster: string, running: number): Finding {
  return {
    severity: "WARNING",
    code: "HOSTS_CANNOT_BE_EMPTIED",
    message: `Cluster ${cluster} has ${running} running virtual machines, and DRS does not move them.`,
    remediation:
      "Switch DRS on, or have the upgrade power off or suspend virtual machines (preRemediationPowerAction).",
  };
}

interface Capacity {
  readonly wanted: number;
  readonly possible: number;
  readonly reason: string | undefined;
}

function tooLittleRoom(cluster: string, { wanted, possible, reason }: Capacity): Finding {
  const hosts = possible === 0 ? "no host" : possible === 1 ? "1 host" : `${possible} hosts`;
  return {
    severity: "WARNING",
    code: "CAPACITY_INSUFFICIENT",
    message: `Cluster ${cluster} can empty ${hosts} at a time, and the upgrade takes ${wanted}${reason ? `: ${reason}` : "."}`,
    remediation:
      possible > 0
        ? `Upgrade at most ${possible} at once (rollout.hostsAtOnce), or free capacity in the cluster.`
        : "Free capacity in the cluster, or have the upgrade power off or suspend virtual machines (preRemediationPowerAction).",
    context: { possible: String(possible), hostsAtOnce: String(wanted) },
  };
}

function cannotMove(vm: Vim25Vm, host: Vim25Host, reason: string | undefined): Finding {
  return {
    severity: "WARNING",
    code: "VM_CANNOT_MOVE",
    message: `Virtual machine ${vm.name} cannot leave host ${host.name}${reason ? `: ${reason}` : "."}`,
    remediation: "Move it or power it off, or remove what ties it to the host, then run the prechecks again.",
    subject: vm.name,
    ...aboutHost(host),
  };
}

/** No host's certificate expires soon. */
function certificatesValid<I extends ClusterAdviceInput>(): Precheck<I> {
  return {
    type: "CERTIFICATES_VALID",
    name: "Certificates",
    description: "No certificate of a host expires within 30 days.",
    needs: ["COMPONENT_MANAGER_REACHABLE"],
    run: async (input) => {
      const { target, management, retryPolicy } = input;
      const now = retryPolicy.clock.timeOfDay();
      const read = async () => ({
        hosts: await readHosts(input),
        certificates: await management.listCertificates(target.cluster.cluster),
      });
      const found = await advise(retryPolicy, read, ({ hosts, certificates }) =>
        hosts.flatMap((host) => {
          const expiresAt = certificates.find((one) => one.host === host.host)?.expiresAt ?? "";
          return adviseOnCertificate(`of host ${host.name}`, Date.parse(expiresAt), now, aboutHost(host));
        }),
      );
      return findingsOf(input, found);
    },
  };
}

/** The clocks of hosts, component manager and service show the same time. */
function clocksInSync<I extends ClusterAdviceInput>(): Precheck<I> {
  return {
    type: "CLOCKS_IN_SYNC",
    name: "Clocks",
    description: "The clocks of the hosts, of the component manager and of the service differ by at most a minute.",
    needs: ["COMPONENT_MANAGER_REACHABLE"],
    run: async (input) => {
      const { target, management, retryPolicy } = input;
      const { clock } = retryPolicy;
      const readTime = async () => Date.parse(await management.readTime());
      const read = async () => {
        const before = clock.timeOfDay();
        const first = await readTime();
        const after = clock.timeOfDay();
        const hosts = await readHosts(input);
        const ids = hosts.map(({ host }) => host);
        const times = await management.listHostTimes(target.cluster.cluster, ids);
        return { before, first, after, hosts, times, last: await readTime() };
      };
      const manager = `component manager ${management.id}`;
      const found = await advise(retryPolicy, read, ({ before, first, after, hosts, times, last }) => [
        ...adviseOnClock(manager, first, { from: before, to: after, than: "the service" }),
        ...hosts.flatMap((host) => {
          const time = Date.parse(times.get(host.host) ?? "");
          return adviseOnClock(`host ${host.name}`, time, { from: first, to: last, than: manager }, aboutHost(host));
        }),
      ]);
      return findingsOf(input, found);
    },
  };
}

/** What is advised on clusters of both kinds. */
export function clusterAdvice<I extends ClusterAdviceInput>(): readonly Precheck<I>[] {
  return [roomForRollout<I>(), certificatesValid<I>(), clocksInSync<I>()];
}
