import { SearchAttributeType } from "@temporalio/common";
import { temporal } from "@temporalio/proto";

const { IndexedValueType } = temporal.api.enums.v1;

/** Apart from readiness, which loads a client of Temporal. The types that our search attributes have: what the server calls them, and what its CLI does. */
export const searchAttributeTypes = {
  [SearchAttributeType.KEYWORD]: { indexed: IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD, named: "Keyword" },
  [SearchAttributeType.KEYWORD_LIST]: {
    indexed: IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD_LIST,
    named: "KeywordList",
  },
  [SearchAttributeType.TEXT]: { indexed: IndexedValueType.INDEXED_VALUE_TYPE_TEXT, named: "Text" },
  [SearchAttributeType.DATETIME]: { indexed: IndexedValueType.INDEXED_VALUE_TYPE_DATETIME, named: "Datetime" },
};
