import type Router from "@koa/router";
import type { SimulatorContext } from "../state/context";
import { withSession } from "../vlcm/vlcm-calls";

const hour = 3_600_000;
const year = 365 * 24 * hour;

/** In what condition the appliance is: its clock, disks, backups and certificate. */
export function conditionRoutes(router: Router, context: SimulatorContext): void {
  const calls = withSession(router, context);

  calls.get("/appliance/system/time", () => {
    const fault = context.findFault(["MGMT_CLOCK_WRONG"]);
    const now = context.now() - (fault ? (fault.seconds ?? 600) * 1000 : 0);
    const [date = "", time = ""] = new Date(now).toISOString().split(/[T.]/);
    return { status: 200, body: { seconds_since_epoch: now / 1000, date, time, timezone: "UTC" } };
  });

  calls.get("/appliance/health/storage", () => ({
    status: 200,
    body: context.findFault(["MGMT_DISK_FULL"]) ? "red" : "green",
  }));

  calls.get("/appliance/recovery/backup/job/details", () => {
    const isOld = context.findFault(["MGMT_BACKUP_OLD"]) !== undefined;
    const now = context.now();
    const jobs = isOld
      ? [backupJob(now - 192 * hour, "SUCCEEDED"), backupJob(now - 6 * hour, "FAILED")]
      : [backupJob(now - 6 * hour, "SUCCEEDED")];
    return { status: 200, body: Object.fromEntries(jobs.map((job, i) => [`backup-${i + 1}`, job])) };
  });

  calls.get("/vcenter/certificate-management/vcenter/tls", () => {
    const fault = context.findFault(["MGMT_CERTIFICATE_EXPIRES"]);
    const now = context.now();
    return {
      status: 200,
      body: {
        version: 3,
        serial_number: "1",
        signature_algorithm: "SHA256withRSA",
        issuer_dn: "CN=CA",
        valid_from: new Date(now - year).toISOString(),
        valid_to: new Date(now + (fault ? (fault.seconds ?? 0) * 1000 : year)).toISOString(),
        subject_dn: "CN=management server",
        thumbprint: "00",
        is_CA: false,
        path_length_constraint: -1,
        key_usage: [],
        extended_key_usage: [],
        subject_alternative_name: [],
        authority_information_access_uri: [],
        cert: "",
      },
    };
  });
}

/** A backup that ended at `end`, as lists of jobs show it. */
function backupJob(end: number, status: "SUCCEEDED" | "FAILED") {
  const message = { id: "com.vmware.appliance.backup", default_message: "Backup", args: [] };
  return {
    location: "sftp://backup.example.com/management-server",
    location_user: "backup",
    type: "SCHEDULED",
    messages: [],
    description: message,
    service: "com.vmware.appliance.recovery.backup.job",
    operation: "create",
    cancelable: false,
    status,
    duration: 600,
    size: 1024,
    progress: { total: 100, completed: 100, message },
    start_time: new Date(end - 600_000).toISOString(),
    end_time: new Date(end).toISOString(),
    ...(status === "FAILED" && { error: { messages: [message] } }),
  };
}
