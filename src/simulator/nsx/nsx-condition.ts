import type Router from "@koa/router";
import type { SimulatorContext } from "../state/context";
import { pageOf, withManager } from "./nsx-calls";

const hour = 3_600_000;
const year = 365 * 24 * hour;

/** In what condition a manager is: its clock, disks, backups and certificates. */
export function conditionRoutes(router: Router, context: SimulatorContext): void {
  const calls = withManager(router, context);

  calls.get("/node/status", () => {
    const fault = context.findFault(["NSX_CLOCK_WRONG"]);
    const total = 10_000_000;
    const disk = (mount: string, share: number) => ({
      file_system: `/dev/mapper/nsx${mount.replaceAll("/", "-")}`,
      mount,
      type: "ext4",
      total,
      used: share * total,
    });
    return {
      status: 200,
      body: {
        system_time: context.now() - (fault ? (fault.seconds ?? 600) * 1000 : 0),
        file_systems: [disk("/", 0.4), disk("/repository", context.findFault(["NSX_DISK_FULL"]) ? 0.95 : 0.5)],
      },
    };
  });

  calls.get("/cluster/backups/history", () => {
    const now = context.now();
    const backup = (end: number, success: boolean) => ({
      backup_id: "backup",
      start_time: end - 600_000,
      end_time: end,
      success,
    });
    const isOld = context.findFault(["NSX_BACKUP_OLD"]) !== undefined;
    const cluster_backup_statuses = isOld
      ? [backup(now - 6 * hour, false), backup(now - 192 * hour, true)]
      : [backup(now - 6 * hour, true)];
    return { status: 200, body: { cluster_backup_statuses, node_backup_statuses: [], inventory_backup_statuses: [] } };
  });

  calls.get("/trust-management/certificates", (call) => {
    const fault = context.findFault(["NSX_CERTIFICATE_EXPIRES"]);
    const now = context.now();
    const certificate = (id: string, expiresAt: number, isUsed: boolean) => ({
      id,
      display_name: id,
      resource_type: "certificate_self_signed",
      details: [{ subject_cn: id, not_before: now - 2 * year, not_after: expiresAt }],
      used_by: isUsed ? [{ node_id: "node-1", service_types: ["API"] }] : [],
    });
    return {
      status: 200,
      body: pageOf(call, [
        certificate("mp-cluster", now + (fault ? (fault.seconds ?? 0) * 1000 : year), true),
        certificate("unused", now - year, false),
      ]),
    };
  });
}
