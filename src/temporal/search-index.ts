import type { Client } from "@temporalio/client";
import { type ChangeRecord, labelTexts } from "../domain/spec/change-record";
import type { Upgrade } from "../domain/spec/upgrade";
import { creatorTerm, searchTerms, searchWords } from "../domain/upgrade/search-terms";
import type { UpgradeFilter } from "../upgrades/ports";
import { PayloadEncryption } from "./payload-encryption";
import { quoted } from "./visibility";

type IndexedFilter = Pick<UpgradeFilter, "search" | "createdBy" | "changeId" | "label">;

/**
 * How upgrades are found by words. Search attributes are not encrypted: with payload keys the terms are stored as keyed
 * hashes, so that they can be compared and not read (docs/decisions/0021).
 */
export class SearchIndex {
  private readonly encryption: PayloadEncryption | undefined;

  constructor(client: Pick<Client, "options">) {
    const codecs: readonly unknown[] = client.options.loadedDataConverter.payloadCodecs;
    this.encryption = codecs.find((codec) => codec instanceof PayloadEncryption);
  }

  /** Whether names may be stored as they are. */
  get isPlain(): boolean {
    return (this.encryption?.blindIndexes("").length ?? 0) === 0;
  }

  /** What is stored of an upgrade. */
  termsOf(upgrade: Pick<Upgrade, "createdBy" | "changeId" | "resources">): string[] {
    return searchTerms(upgrade, (term) => this.newest(term));
  }

  /** What is stored of a change record; undefined of what it does not have. */
  changeRecordOf({ changeId, labels }: ChangeRecord): {
    readonly changeId: string | undefined;
    readonly labels: readonly string[] | undefined;
  } {
    const texts = labelTexts(labels).map((text) => this.newest(text));
    return {
      changeId: changeId === undefined ? undefined : this.newest(changeId),
      labels: texts.length === 0 ? undefined : texts,
    };
  }

  /**
   * The conditions that all words of a search are found, in the terms or at the beginning of the id, and a creator and a
   * change record.
   */
  conditions({ search = "", createdBy, changeId, label = [] }: IndexedFilter): string[] {
    const among = (attribute: string, value: string) =>
      `${attribute} IN (${this.stored(value).map(quoted).join(", ")})`;
    return [
      ...searchWords(search).map((word) => {
        const terms = among("SearchTerms", word);
        return /^[0-9a-f-]+$/.test(word) ? `(${terms} OR WorkflowId STARTS_WITH ${quoted(word)})` : terms;
      }),
      ...(createdBy === undefined ? [] : [among("SearchTerms", creatorTerm(createdBy))]),
      ...(changeId === undefined ? [] : [among("ChangeId", changeId)]),
      ...label.map((text) => among("Labels", text)),
    ];
  }

  private newest(term: string): string {
    return this.stored(term)[0] ?? term;
  }

  /** A term as it may be stored: plain, or by the newest key and by those before. */
  private stored(term: string): readonly string[] {
    const hashes = this.encryption?.blindIndexes(term) ?? [];
    return hashes.length > 0 ? hashes : [term];
  }
}
