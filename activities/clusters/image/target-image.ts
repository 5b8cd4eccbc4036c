import { isSameVersion } from "../../../src/domain/version";
import type { ClusterTarget } from "../../contract";
import type { HostCompliance, SoftwareInfo } from "../../drivers/vlcm/vlcm-models";

/** The image that an upgrade is about: a base image, and what is to come with it where the upgrade says that. */
export type TargetImage = Pick<ClusterTarget, "targetVersion" | "image">;

/** An image in one line, for operators. */
export function describeImage({ targetVersion, image }: TargetImage): string {
  return image ? `${targetVersion} with ${image.name}` : targetVersion;
}

/** A target with more than a base image as the software specification that the component manager imports. */
export function softwareSpecOf({ targetVersion, image }: Required<TargetImage>): object {
  const { addOn, components = {}, hardwareSupport } = image;
  const packages = hardwareSupport.map(({ manager, package: pkg, version }) => [manager, { pkg, version }] as const);
  return {
    base_image: { version: targetVersion },
    ...(addOn && { add_on: { name: addOn.name, version: addOn.version } }),
    ...(Object.keys(components).length > 0 && { components }),
    ...(packages.length > 0 && { hardware_support: { packages: Object.fromEntries(packages) } }),
  };
}

/** Whether a cluster's desired image is the target. Without extras in the target only the base image is compared. */
export function isDesired(desired: SoftwareInfo, target: TargetImage): boolean {
  if (!isSameVersion(desired.base_image.version, target.targetVersion)) return false;
  if (!target.image) return true;
  const { addOn, components, hardwareSupport } = target.image;
  return (
    isSamePart(desired.add_on, addOn) &&
    isSameText(versionsOf(desired.components), components) &&
    isSameText(packagesOf(desired.hardware_support?.packages), versionsOfPackages(hardwareSupport))
  );
}

/** Whether a host was compared with the target and not with another image. */
export function isJudgedBy(found: HostCompliance, { targetVersion, image }: TargetImage): boolean {
  if (!isSameVersion(found.base_image.target.version, targetVersion)) return false;
  if (!image) return true;
  const targets = Object.entries(found.components ?? {});
  const wanted = image.components ?? {};
  const firmware = Object.entries(found.hardware_support ?? {}).flatMap(([manager, { target }]) =>
    target ? [[manager, target] as const] : [],
  );
  return (
    isSamePart(found.add_on?.target, image.addOn) &&
    // The product also lists what comes with base image and add-on; only what a user has put there is part of the target.
    Object.entries(wanted).every(([name, version]) => found.components?.[name]?.target?.version === version) &&
    targets.every(([name, { target, target_source }]) => !target || target_source !== "USER" || name in wanted) &&
    isSameText(packagesOf(Object.fromEntries(firmware)), versionsOfPackages(image.hardwareSupport))
  );
}

type Part = { readonly name: string; readonly version: string } | undefined;

function isSamePart(a: Part, b: Part): boolean {
  return a?.name === b?.name && a?.version === b?.version;
}

type Texts = Readonly<Record<string, string>> | undefined;

function isSameText(a: Texts = {}, b: Texts = {}): boolean {
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...names].every((name) => a[name] === b[name]);
}

function versionsOf(components: SoftwareInfo["components"] = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(components).map(([name, { version = "" }]) => [name, version]));
}

function packagesOf(packages: Readonly<Record<string, { pkg: string; version: string }>> = {}): Record<string, string> {
  return Object.fromEntries(
    Object.entries(packages).map(([manager, { pkg, version }]) => [manager, `${pkg} ${version}`]),
  );
}

function versionsOfPackages(
  packages: readonly { manager: string; package: string; version: string }[],
): Record<string, string> {
  return Object.fromEntries(packages.map(({ manager, package: pkg, version }) => [manager, `${pkg} ${version}`]));
}
