import { defineSearchAttributeKey, SearchAttributeType } from "@temporalio/common";

/**
 * What upgrades are filtered by, in the API and in the Temporal Web UI. Registered per namespace before the first start.
 * Temporal's SQL databases have room for ten keywords, three lists of keywords, three texts and three times.
 */
export const upgradeStatusKey = defineSearchAttributeKey("UpgradeStatus", SearchAttributeType.KEYWORD);
export const taskStatusKey = defineSearchAttributeKey("TaskStatus", SearchAttributeType.KEYWORD);
export const bundleIdKey = defineSearchAttributeKey("BundleId", SearchAttributeType.KEYWORD);
export const bundleTypeKey = defineSearchAttributeKey("BundleType", SearchAttributeType.KEYWORD);
export const resourceIdsKey = defineSearchAttributeKey("ResourceIds", SearchAttributeType.KEYWORD_LIST);

/** The phase that clients read, by which the list is sorted and its tabs are counted. */
export const upgradePhaseKey = defineSearchAttributeKey("UpgradePhase", SearchAttributeType.KEYWORD);
/** What the list finds an upgrade by; see `searchTerms` in src/domain/upgrade/search-terms.ts. */
export const searchTermsKey = defineSearchAttributeKey("SearchTerms", SearchAttributeType.KEYWORD_LIST);
/** The id of its change record, and its labels as `name=value`. */
export const changeIdKey = defineSearchAttributeKey("ChangeId", SearchAttributeType.KEYWORD);
export const labelsKey = defineSearchAttributeKey("Labels", SearchAttributeType.KEYWORD_LIST);
/** When an upgrade was created; a run that another one has taken on from has begun later. */
export const createdAtKey = defineSearchAttributeKey("CreatedAt", SearchAttributeType.DATETIME);

/**
 * What people read of a Workflow in a list of the Temporal Web UI: names of its clusters, NETVIRT instances or management
 * servers, their target version, who had the upgrade started, and when its work begins or has begun. The first and the third
 * are absent where payloads are encrypted.
 */
export const clusterNamesKey = defineSearchAttributeKey("ClusterNames", SearchAttributeType.TEXT);
export const targetVersionKey = defineSearchAttributeKey("TargetVersion", SearchAttributeType.KEYWORD);
export const requestedByKey = defineSearchAttributeKey("RequestedBy", SearchAttributeType.KEYWORD);
export const startsAtKey = defineSearchAttributeKey("StartsAt", SearchAttributeType.DATETIME);

/** All of them. config/temporal/setup-namespace.sh makes the same ones. */
export const searchAttributes = [
  upgradeStatusKey,
  taskStatusKey,
  bundleIdKey,
  bundleTypeKey,
  resourceIdsKey,
  upgradePhaseKey,
  searchTermsKey,
  changeIdKey,
  labelsKey,
  createdAtKey,
  clusterNamesKey,
  targetVersionKey,
  requestedByKey,
  startsAtKey,
];
