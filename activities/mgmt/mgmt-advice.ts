import { advise, adviseOnBackup, adviseOnCertificate, adviseOnClock, adviseOnDisks } from "../prechecks/advice";
import { type MgmtCheck, mgmtFindings } from "./mgmt-check";

/** The management server was backed up within the last day. */
const backupRecent: MgmtCheck = {
  type: "BACKUP_RECENT",
  name: "Backup",
  description: "The management server has a backup of the last 24 hours.",
  needs: ["COMPONENT_MANAGER_REACHABLE"],
  run: async (input) => {
    const { target, client, retryPolicy } = input;
    const now = retryPolicy.clock.timeOfDay();
    const found = await advise(
      retryPolicy,
      () => client.readLastBackup(),
      (last) => adviseOnBackup(`Management server ${target.server.name}`, last, now),
    );
    return mgmtFindings(input, found);
  },
};

/** Its certificate does not expire soon. */
const certificateValid: MgmtCheck = {
  type: "CERTIFICATES_VALID",
  name: "Certificate",
  description: "The certificate of the management server does not expire within 30 days.",
  needs: ["COMPONENT_MANAGER_REACHABLE"],
  run: async (input) => {
    const { target, client, retryPolicy } = input;
    const now = retryPolicy.clock.timeOfDay();
    const found = await advise(
      retryPolicy,
      () => client.readCertificateEnd(),
      (expiresAt) => adviseOnCertificate(`of management server ${target.server.name}`, expiresAt, now),
    );
    return mgmtFindings(input, found);
  },
};

/** Its clock shows the time that the service's does. */
const clockInSync: MgmtCheck = {
  type: "CLOCKS_IN_SYNC",
  name: "Clock",
  description: "The clocks of the management server and of the service differ by at most a minute.",
  needs: ["COMPONENT_MANAGER_REACHABLE"],
  run: async (input) => {
    const { target, client, retryPolicy } = input;
    const { clock } = retryPolicy;
    const read = async () => {
      const from = clock.timeOfDay();
      const time = await client.readTime();
      return { time, reading: { from, to: clock.timeOfDay(), than: "the service" } };
    };
    const found = await advise(retryPolicy, read, ({ time, reading }) =>
      adviseOnClock(`management server ${target.server.name}`, time, reading),
    );
    return mgmtFindings(input, found);
  },
};

/** Its disks have space left. */
const diskSpace: MgmtCheck = {
  type: "DISK_SPACE",
  name: "Disk space",
  description: "The management server finds enough free space on its disks.",
  needs: ["COMPONENT_MANAGER_REACHABLE"],
  run: async (input) => {
    const { target, client, retryPolicy } = input;
    const found = await advise(
      retryPolicy,
      () => client.readStorageHealth(),
      (health) => adviseOnDisks(`Management server ${target.server.name}`, health),
    );
    return mgmtFindings(input, found);
  },
};

/** What is advised on a management server. */
export const mgmtAdvice: readonly MgmtCheck[] = [backupRecent, certificateValid, clockInSync, diskSpace];
