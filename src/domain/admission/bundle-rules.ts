import { isNone, type Option } from "fp-ts/Option";
import { hostosVersionOf, productsOf, versionsOffered } from "../plan/facts";
import { mgmtInScope, netvirtInScope } from "../plan/scope";
import type { Product } from "../plan/upgrade-plan";
import { type Bundle, bundleName } from "../spec/bundle";
import type { ResourceUpgradeSpec } from "../spec/upgrade-spec";
import { compareVersions, isSameVersion } from "../version";
import {
  type AdmissionRequest,
  type AdmissionRule,
  badField,
  clustersOfRequest,
  perCluster,
  perResource,
  type Rejection,
} from "./admission-rule";

/** Why a bundle cannot be installed now. */
interface BundleObstacle {
  readonly code: string;
  readonly message: string;
  readonly remediation: string;
}

/** The bundle is known, downloaded and not recalled. */
export const bundleAvailable: AdmissionRule = ({ spec, bundle }) => {
  const obstacle = bundleObstacle(spec.bundleId, bundle);
  return obstacle ? [{ effect: "FAILED_DEPENDENCY", path: "bundleId", ...obstacle }] : [];
};

/** Why a bundle, as the catalog has it now, cannot be installed; undefined where it can. */
export function bundleObstacle(bundleId: string, bundle: Option<Bundle>): BundleObstacle | undefined {
  if (isNone(bundle))
    return {
      code: "BUNDLE_UNKNOWN",
      message: `Bundle ${bundleId} is not in the catalog.`,
      remediation: "Choose a bundle of the catalog, or add this one to the catalog file.",
    };
  const { downloadStatus = "PENDING" } = bundle.value;
  if (downloadStatus === "RECALLED")
    return {
      code: "BUNDLE_RECALLED",
      message: `Bundle ${bundleName(bundle.value)} was recalled by its vendor.`,
      remediation: "Choose a newer bundle.",
    };
  if (downloadStatus === "SUCCESSFUL") return undefined;
  return {
    code: "BUNDLE_NOT_DOWNLOADED",
    message: `Bundle ${bundleName(bundle.value)} is not downloaded (its download is ${downloadStatus}).`,
    remediation: "Download the bundle, then send the request again.",
  };
}

/** Personalities and ISOs that a request names are in the inventory, and what is said of firmware is complete. */
export const imagesKnown = perResource((resource, path, request) => [
  ...personalityKnown(resource, path, request),
  ...isoKnown(resource, path, request),
]);

function personalityKnown(
  { personalitySpec }: ResourceUpgradeSpec,
  path: string,
  { installations }: AdmissionRequest,
): Rejection[] {
  if (personalitySpec === undefined) return [];
  const at = `${path}.personalitySpec`;
  const { personalityId, hardwareSupportSpecs = [] } = personalitySpec;
  const known = installations.personalities.some(({ id }) => id === personalityId);
  const firmware = hardwareSupportSpecs.flatMap(({ name, packageSpec }, i) => {
    const fields = { name, "packageSpec.name": packageSpec?.name, "packageSpec.version": packageSpec?.version };
    return Object.entries(fields)
      .filter(([, value]) => value === undefined)
      .map(([field]) => missing(`${at}.hardwareSupportSpecs[${i}].${field}`));
  });
  if (personalityId === undefined) return [missing(`${at}.personalityId`), ...firmware];
  return known ? firmware : [unknown(`${at}.personalityId`, `Personality ${personalityId}`), ...firmware];
}

function isoKnown(
  { customIsoSpec }: ResourceUpgradeSpec,
  path: string,
  { installations }: AdmissionRequest,
): Rejection[] {
  if (customIsoSpec === undefined) return [];
  const at = `${path}.customIsoSpec.id`;
  const { id } = customIsoSpec;
  if (id === undefined) return [missing(at)];
  return installations.isos.some((iso) => iso.id === id) ? [] : [unknown(at, `Custom ISO ${id}`)];
}

function missing(path: string): Rejection {
  return badField(path, "MISSING_FIELD", `${path} is missing.`, `Add ${path}.`);
}

function unknown(path: string, what: string): Rejection {
  return badField(
    path,
    "IMAGE_UNKNOWN",
    `${what} is not in the inventory.`,
    "Name one of the inventory, or omit it to upgrade to the bundle's image.",
  );
}

/** Fields of a resource that say how its hosts are upgraded, beside the options of HOSTOS. */
const hostFields = [
  "shutdownVms",
  "toVersion",
  "personalitySpec",
  "customIsoSpec",
  "enableQuickboot",
  "evacuateOfflineVms",
  "hosts",
  "rollout",
] as const satisfies readonly (keyof ResourceUpgradeSpec)[];

/** The bundle holds a product, and the request has inputs for none that it does not hold: no field is ignored. */
export const inputsFitBundle: AdmissionRule = ({ spec, bundle }) => {
  if (isNone(bundle)) return [];
  const products = new Set(productsOf(bundle.value));
  if (products.size === 0) {
    return [
      {
        effect: "NOT_ALLOWED",
        path: "bundleId",
        code: "PRODUCT_NOT_SUPPORTED",
        message: `Bundle ${bundleName(bundle.value)} contains no product that can be upgraded.`,
        remediation: "Choose a bundle with a component of the type NETVIRT, MGMT or HOSTOS.",
      },
    ];
  }
  const refusal = (path: string, product: Product): Rejection => ({
    effect: "BAD_REQUEST",
    path,
    code: "INPUT_NOT_FOR_BUNDLE",
    message: `${path} is for ${product}, which bundle ${bundleName(bundle.value)} does not contain.`,
    remediation: `Remove ${path}, or choose a bundle with ${product}.`,
  });
  return [
    ...(!products.has("NETVIRT") && spec.netvirtUpgradeUserInputSpecs?.length
      ? [refusal("netvirtUpgradeUserInputSpecs", "NETVIRT")]
      : []),
    ...(!products.has("MGMT") && spec.mgmtUpgradeUserInputSpecs?.length
      ? [refusal("mgmtUpgradeUserInputSpecs", "MGMT")]
      : []),
    ...(products.has("HOSTOS")
      ? []
      : spec.resourceUpgradeSpecs.flatMap((resource, i) =>
          aboutHosts(resource).map((field) => refusal(`resourceUpgradeSpecs[${i}].${field}`, "HOSTOS")),
        )),
  ];
};

/**
 * Paths, within a resource, of what is given about its hosts. The failure action is not: it holds for every product
 * (docs/spec-gaps.md, hostosUpgradeFailureAction).
 */
function aboutHosts(resource: ResourceUpgradeSpec): string[] {
  const { hostosUpgradeFailureAction: _everyProduct, ...options } = resource.hostosUpgradeOptionsSpec ?? {};
  const isGiven = (value: unknown) => value !== undefined && value !== false;
  return [
    ...hostFields.filter((field) => isGiven(resource[field])),
    ...Object.entries(options)
      .filter(([, value]) => isGiven(value))
      .map(([field]) => `hostosUpgradeOptionsSpec.${field}`),
  ];
}

/** The request's clusters have something that the bundle upgrades: an upgrade of nothing would only look like one. */
export const productsPresent: AdmissionRule = (request) => {
  const { spec, bundle, installations } = request;
  const clusters = clustersOfRequest(request);
  // What an unknown cluster has is unknown as well; that it is unknown is another rule's business.
  if (isNone(bundle) || clusters.length < spec.resourceUpgradeSpecs.length) return [];
  const products = productsOf(bundle.value);
  const isPresent = {
    NETVIRT: netvirtInScope(clusters, installations).length > 0,
    MGMT: mgmtInScope(clusters, installations).length > 0,
    HOSTOS: true,
  };
  if (products.length === 0 || products.some((product) => isPresent[product])) return [];
  return [
    {
      effect: "NOT_ALLOWED",
      path: "bundleId",
      code: "PRODUCT_NOT_SUPPORTED",
      message: `Bundle ${bundleName(bundle.value)} contains ${products.join(" and ")}, which no cluster of the request has in the inventory.`,
      remediation: "Name clusters that the server serves, add the server to the inventory, or choose another bundle.",
    },
  ];
};

/** `toVersion`, where given, is what the bundle offers and what the hosts are brought to. */
export const targetVersionOffered = perResource((resource, path, { bundle, installations }) => {
  const { toVersion, personalitySpec, customIsoSpec } = resource;
  if (toVersion === undefined || isNone(bundle)) return [];
  const at = `${path}.toVersion`;
  const offered = versionsOffered(bundle.value);
  if (!offered.some((version) => isSameVersion(version, toVersion))) {
    return [
      badField(
        at,
        "VERSION_NOT_OFFERED",
        `Bundle ${bundleName(bundle.value)} does not offer version ${toVersion}; it offers ${offered.join(" and ") || "none"}.`,
        "Remove toVersion, or give a version that the bundle offers.",
      ),
    ];
  }
  const image =
    installations.personalities.find(({ id }) => id === personalitySpec?.personalityId) ??
    installations.isos.find(({ id }) => id === customIsoSpec?.id);
  const meant = hostosVersionOf(bundle.value, toVersion);
  if (image === undefined || meant === undefined || isSameVersion(image.version, meant)) return [];
  return [
    badField(
      at,
      "VERSION_CONTRADICTION",
      `toVersion ${toVersion} means ${meant}, but ${image.name} has version ${image.version}.`,
      "Remove toVersion, or name an image of that version.",
    ),
  ];
});

/** The lowest platform version whose resources can be upgraded (Spec 1, 9). */
export const lowestPlatform = "3.5";

/** The platform of every cluster is at bill-of-materials version 3.5 or above (Spec 1, 9). */
export const platformVersion = perCluster((cluster, _resource, path) =>
  compareVersions(cluster.platformVersion, lowestPlatform) >= 0
    ? []
    : [
        {
          effect: "NOT_ALLOWED",
          path: `${path}.resourceId`,
          code: "PLATFORM_TOO_OLD",
          message: `Cluster ${cluster.name} belongs to a platform of version ${cluster.platformVersion}; upgrades need ${lowestPlatform} or above.`,
          remediation: `Upgrade the platform to version ${lowestPlatform} first.`,
        },
      ],
);
