import * as t from "io-ts";
import { model, OneOf, WholeNumber } from "../codec";
import { PageMetadata } from "../page";

export const BundleType = OneOf("SDDC_MANAGER", "VENDOR_SOFTWARE", "HCI");
export type BundleType = t.TypeOf<typeof BundleType>;

export const BundleDownloadStatus = OneOf("PENDING", "SCHEDULED", "IN_PROGRESS", "SUCCESSFUL", "FAILED", "RECALLED");

export const BundleSeverity = OneOf("CRITICAL", "IMPORTANT", "MODERATE", "LOW");

export const BundleApplicabilityStatus = OneOf("SUCCESS", "IN_PROGRESS", "FAILED", "AVAILABLE", "PENDING");

export const BundleImageType = OneOf("PATCH", "INSTALL");

/** One product inside a bundle and the version it brings (Spec 2.6). `type` is HOSTOS, NETVIRT or MGMT here. */
export const BundleComponent = model(
  {},
  {
    description: t.string,
    vendor: t.string,
    releasedDate: t.string,
    toVersion: t.string,
    fromVersion: t.string,
    id: t.string,
    type: t.string,
    imageType: BundleImageType,
  },
);
export type BundleComponent = t.TypeOf<typeof BundleComponent>;

/** A set of product versions that are released and applied together (Spec 2.6). */
export const Bundle = model(
  { id: t.string },
  {
    type: BundleType,
    description: t.string,
    version: t.string,
    severity: BundleSeverity,
    vendor: t.string,
    releasedDate: t.string,
    isCumulative: t.boolean,
    isCompliant: t.boolean,
    sizeMB: t.number,
    downloadStatus: BundleDownloadStatus,
    components: t.array(BundleComponent),
    applicabilityStatus: BundleApplicabilityStatus,
    applicabilityOrder: WholeNumber,
    isPartiallyUpgraded: t.boolean,
  },
);
export type Bundle = t.TypeOf<typeof Bundle>;

/** What a bundle is called in sentences: its version, then its id. */
export function bundleName({ id, version }: Pick<Bundle, "id" | "version">): string {
  return version === undefined ? id : `${version} (${id})`;
}

/** One page of the bundles of the catalog. */
export const PageOfBundle = model({}, { elements: t.array(Bundle), pageMetadata: PageMetadata });
export type PageOfBundle = t.TypeOf<typeof PageOfBundle>;
