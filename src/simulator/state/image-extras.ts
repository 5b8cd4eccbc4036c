import * as t from "io-ts";
import { model } from "../../domain/codec";
import type { SimulatorConfig } from "../config/simulator-config";

/** What an image or a host has beside its base image. Components are versions by name, firmware is by its manager. */
export const ImageExtras = model(
  {},
  {
    addOn: model({ name: t.string, version: t.string }, {}),
    components: t.record(t.string, t.string),
    hardwareSupport: t.record(t.string, model({ pkg: t.string, version: t.string }, {})),
  },
);
export type ImageExtras = t.TypeOf<typeof ImageExtras>;

/** A base image version and what comes with it. */
export interface Image {
  readonly version: string;
  readonly extras?: ImageExtras;
}

/** One part of an image beside its base image, as text: the same part in the same version gives the same text. */
interface Part {
  readonly kind: "add-on" | "component" | "hardware support package";
  /** What there is one of: the add-on, a component by its name, a package by its manager. */
  readonly slot: string;
  readonly name: string;
  readonly version: string;
}

/** All parts of an image beside its base image. */
function partsOf({ addOn, components = {}, hardwareSupport = {} }: ImageExtras = {}): Part[] {
  return [
    ...(addOn ? [{ kind: "add-on" as const, slot: "add-on", ...addOn }] : []),
    ...Object.entries(components).map(([name, version]) => ({
      kind: "component" as const,
      slot: `component ${name}`,
      name,
      version,
    })),
    ...Object.entries(hardwareSupport).map(([manager, { pkg, version }]) => ({
      kind: "hardware support package" as const,
      slot: `hardware support ${manager}`,
      name: pkg,
      version,
    })),
  ];
}

const describePart = ({ kind, name, version }: Part) => `${kind} ${name} ${version}`;

/** An image in one line. */
export function describeImage({ version, extras }: Image): string {
  return [version, ...partsOf(extras).map(describePart)].join(", ");
}

/** The parts in which a host differs from an image: those that are missing, other or too many. */
export function differingParts(host: ImageExtras | undefined, image: ImageExtras | undefined): Part[] {
  const [has, wants] = [partsOf(host), partsOf(image)];
  const isIn = (parts: readonly Part[], { slot, name, version }: Part) =>
    parts.some((part) => part.slot === slot && part.name === name && part.version === version);
  const missing = wants.filter((part) => !isIn(has, part));
  const surplus = has.filter(({ slot }) => !wants.some((part) => part.slot === slot));
  return [...missing, ...surplus];
}

/** Whether a host is what an image says, base image and all. */
export function hasImage(host: Image, image: Image): boolean {
  return host.version === image.version && differingParts(host.extras, image.extras).length === 0;
}

/** Why the depot and the hardware support managers cannot bring an image; empty where they can. */
export function imageProblems(config: SimulatorConfig, { version, extras }: Image): string[] {
  const { depot, addOns = [], components = [], hardwareSupport = [] } = config;
  const managers = new Set(hardwareSupport.map(({ manager }) => manager));
  const missingManagers = Object.keys(extras?.hardwareSupport ?? {}).filter((manager) => !managers.has(manager));
  const isOffered = (part: Part) =>
    part.kind === "hardware support package"
      ? hardwareSupport.some(
          (offer) =>
            part.slot === `hardware support ${offer.manager}` &&
            offer.package === part.name &&
            offer.version === part.version,
        )
      : (part.kind === "add-on" ? addOns : components).some(
          (offer) => offer.name === part.name && offer.version === part.version,
        );
  return [
    ...(depot.some((image) => image.version === version) ? [] : [`The depot has no base image ${version}.`]),
    ...missingManagers.map((manager) => `There is no hardware support manager ${manager}.`),
    ...partsOf(extras)
      .filter((part) => !missingManagers.some((manager) => part.slot === `hardware support ${manager}`))
      .filter((part) => !isOffered(part))
      .map((part) => `The depot has no ${describePart(part)}.`),
  ];
}

/** Why a host cannot be brought to an image while it runs, without a reboot; undefined where it can. */
export function livePatchObstacle(config: SimulatorConfig, host: Image, image: Image): string | undefined {
  const offered = config.depot.find(({ version }) => version === image.version);
  if (host.version !== image.version && !offered?.livePatchFrom?.includes(host.version))
    return `${image.version} cannot be applied to ${host.version} as a live patch.`;
  const rebooting = differingParts(host.extras, image.extras).find((part) =>
    [...(config.addOns ?? []), ...(config.components ?? []), ...(config.hardwareSupport ?? [])].some(
      (offer) =>
        offer.needsReboot === true &&
        ("package" in offer ? offer.package : offer.name) === part.name &&
        offer.version === part.version,
    ),
  );
  return rebooting && `The ${describePart(rebooting)} needs a reboot, so the image cannot be applied as a live patch.`;
}
