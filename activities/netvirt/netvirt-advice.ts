import { advise, adviseOnBackup, adviseOnCertificate, adviseOnClock, adviseOnDisk } from "../prechecks/advice";
import { netvirtFindings, type NetvirtPrecheck } from "./netvirt-precheck";

/** The NETVIRT managers were backed up within the last day. */
const backupRecent: NetvirtPrecheck = {
  type: "BACKUP_RECENT",
  name: "Backup",
  description: "The NETVIRT managers have a backup of the last 24 hours.",
  needs: ["COMPONENT_MANAGER_REACHABLE"],
  run: async (input) => {
    const { target, client, retryPolicy } = input;
    const now = retryPolicy.clock.timeOfDay();
    const found = await advise(
      retryPolicy,
      () => client.readLastBackup(),
      (last) => adviseOnBackup(`NETVIRT instance ${target.netvirt.name}`, last, now),
    );
    return netvirtFindings(input, found);
  },
};

/** No certificate that the instance uses expires soon. */
const certificatesValid: NetvirtPrecheck = {
  type: "CERTIFICATES_VALID",
  name: "Certificates",
  description: "No certificate that the NETVIRT instance uses expires within 30 days.",
  needs: ["COMPONENT_MANAGER_REACHABLE"],
  run: async (input) => {
    const { target, client, retryPolicy } = input;
    const now = retryPolicy.clock.timeOfDay();
    const found = await advise(
      retryPolicy,
      () => client.listCertificates(),
      (certificates) =>
        certificates
          // Others are kept for later, or from before.
          .filter(({ used_by = [] }) => used_by.length > 0)
          .flatMap(({ id = "", display_name: name = id, details }) => {
            const whose = `${name} of NETVIRT instance ${target.netvirt.name}`;
            return adviseOnCertificate(whose, details?.[0]?.not_after ?? NaN, now, { subject: name });
          }),
    );
    return netvirtFindings(input, found);
  },
};

/** The clock of the manager shows the time that the service's does. */
const clockInSync: NetvirtPrecheck = {
  type: "CLOCKS_IN_SYNC",
  name: "Clock",
  description: "The clocks of the NETVIRT manager and of the service differ by at most a minute.",
  needs: ["COMPONENT_MANAGER_REACHABLE"],
  run: async (input) => {
    const { target, client, retryPolicy } = input;
    const { clock } = retryPolicy;
    const read = async () => {
      const from = clock.timeOfDay();
      const { system_time: time = NaN } = await client.readNodeStatus();
      return { time, reading: { from, to: clock.timeOfDay(), than: "the service" } };
    };
    const found = await advise(retryPolicy, read, ({ time, reading }) =>
      adviseOnClock(`the manager of NETVIRT instance ${target.netvirt.name}`, time, reading),
    );
    return netvirtFindings(input, found);
  },
};

/** The disks of the manager have space left. */
const diskSpace: NetvirtPrecheck = {
  type: "DISK_SPACE",
  name: "Disk space",
  description: "No file system of the NETVIRT manager is more than 80 % full.",
  needs: ["COMPONENT_MANAGER_REACHABLE"],
  run: async (input) => {
    const { target, client, retryPolicy } = input;
    const name = `The manager of NETVIRT instance ${target.netvirt.name}`;
    const found = await advise(
      retryPolicy,
      () => client.readNodeStatus(),
      ({ file_systems = [] }) =>
        file_systems.flatMap(({ mount = "a disk", used = 0, total = 0 }) => adviseOnDisk(name, mount, used, total)),
    );
    return netvirtFindings(input, found);
  },
};

/** What is advised on a NETVIRT instance. */
export const netvirtAdvice: readonly NetvirtPrecheck[] = [backupRecent, certificatesValid, clockInSync, diskSpace];
