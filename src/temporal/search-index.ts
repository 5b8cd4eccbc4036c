import type { Client } from "@temporalio/client";
import type { Upgrade } from "../domain/spec/upgrade";
import { searchTerms, searchWords } from "../domain/upgrade/search-terms";
import { PayloadEncryption } from "./payload-encryption";
import { quoted } from "./visibility";

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

  /** What is stored of an upgrade. */
  termsOf(upgrade: Pick<Upgrade, "createdBy" | "resources">): string[] {
    return searchTerms(upgrade, (term) => this.stored(term)[0] ?? term);
  }

  /** The condition that all words of a search are found, in the terms or at the beginning of the id. */
  condition(search: string): string {
    return searchWords(search)
      .map((word) => {
        const terms = `SearchTerms IN (${this.stored(word).map(quoted).join(", ")})`;
        return /^[0-9a-f-]+$/.test(word) ? `(${terms} OR WorkflowId STARTS_WITH ${quoted(word)})` : terms;
      })
      .join(" AND ");
  }

  /** A term as it may be stored: plain, or by the newest key and by those before. */
  private stored(term: string): readonly string[] {
    const hashes = this.encryption?.blindIndexes(term) ?? [];
    return hashes.length > 0 ? hashes : [term];
  }
}
