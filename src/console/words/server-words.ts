import type { MgmtUpgradeUserInputSpec, NetvirtUpgradeUserInputSpec, UpgradeSpec } from "../../domain/upgrade-spec";
import type { WordsOf } from "./field-words";

const netvirtWords: WordsOf<NetvirtUpgradeUserInputSpec> = {
  netvirtId: {
    label: "Which instance",
    hint: "Its id in the inventory. Empty where the chosen clusters have only one.",
    ids: "NETVIRT",
  },
  netvirtUpgradeOptions: {
    label: "Order",
    hint: "What is left as it is follows the upgrade coordinator.",
    fields: {
      isEdgeOnlyUpgrade: { label: "Edges only", hint: "Leave the hosts' part as it is." },
      isHostClustersUpgradeParallel: {
        label: "Host clusters side by side",
        hint: "Otherwise one host cluster after another.",
      },
      isEdgeClustersUpgradeParallel: {
        label: "Edge clusters side by side",
        hint: "Otherwise one edge cluster after another.",
      },
    },
  },
  netvirtHostClusterUpgradeSpecs: {
    label: "Host clusters",
    hint: "Without any all are upgraded; with some only those.",
    element: "a host cluster",
    empty: "Upgrade no host cluster",
    fields: {
      hostClusterId: {
        label: "Host cluster id",
        hint: "The id or name of its group in the upgrade coordinator, or of the cluster.",
        ids: "HOST_CLUSTERS",
      },
      hostParallelUpgrade: { label: "Its hosts side by side", hint: "Otherwise one host after another." },
      liveUpgrade: { label: "In place", hint: "Without taking its hosts out of service." },
    },
  },
  netvirtEdgeClusterUpgradeSpecs: {
    label: "Edge clusters",
    hint: "Without any all are upgraded; with some only those.",
    element: "an edge cluster",
    empty: "Upgrade no edge cluster",
    fields: {
      edgeClusterId: {
        label: "Edge cluster id",
        hint: "The id or name of its group in the upgrade coordinator.",
        ids: "EDGE_CLUSTERS",
      },
      edgeParallelUpgrade: { label: "Its edges side by side", hint: "Otherwise one edge after another." },
    },
  },
};

const mgmtWords: WordsOf<MgmtUpgradeUserInputSpec> = {
  resourceId: {
    label: "Which server",
    hint: "Its id in the inventory. Empty where the chosen clusters have only one.",
    ids: "MANAGEMENT_SERVERS",
  },
  upgradeMechanism: {
    label: "How",
    hint: "Without a choice: by migration where a switchover time or a temporary network is given, else in place.",
    values: {
      InPlace: "In place: the server is away meanwhile",
      ReducedDowntimeMigration: "By migration: a second server takes over",
    },
  },
  startSwitchoverTimestamp: {
    label: "Switch over not before",
    hint: "In the time of this browser. Only by migration; empty: as soon as it is prepared.",
  },
  temporaryNetwork: {
    label: "Temporary network",
    hint: "The address of the second server until it takes over. Only by migration.",
    fields: {
      networkMode: {
        label: "Address",
        hint: "Chosen automatically, it needs no more.",
        values: { AUTOMATIC: "Chosen automatically", STATIC: "As given here" },
      },
      ipAddress: { label: "IP address", hint: "IPv4, such as 192.0.2.10. Only for a given address." },
      subnetMask: { label: "Subnet mask", hint: "Such as 255.255.255.0. Only for a given address." },
      gateway: { label: "Gateway", hint: "In the same subnet. Only for a given address." },
    },
  },
};

/** The fields of a request beside bundle and clusters (Spec 2.1, 2.3, 2.4). */
export const requestWords: WordsOf<Omit<UpgradeSpec, "bundleId" | "resourceType" | "resourceUpgradeSpecs">> = {
  draftMode: {
    label: "As a draft",
    hint: "Prechecks run at once; nothing else happens before somebody commits it.",
  },
  parallelUpgrade: {
    label: "Side by side",
    hint: "The service upgrades clusters side by side only and refuses anything else.",
  },
  netvirtUpgradeUserInputSpecs: {
    label: "Network virtualization",
    hint: "The bundle brings a new version of it. Without inputs it is upgraded as its upgrade coordinator is set.",
    element: "inputs for an instance",
    fields: netvirtWords,
  },
  mgmtUpgradeUserInputSpecs: {
    label: "Management servers",
    hint: "The bundle brings a new version of them. Without inputs they are upgraded in place.",
    element: "inputs for a server",
    fields: mgmtWords,
  },
};
