import { defineSearchAttributeKey, SearchAttributeType } from "@temporalio/common";

/** What upgrades are filtered by, in the API and in the Temporal Web UI. Registered per namespace before the first start. */
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
 * All of them. Visibility on SQL has room for ten of type Keyword and three of type KeywordList in a namespace. config/temporal/setup-namespace.sh makes the
 * same ones.
 */
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
];
