import type { SimulatorConfig } from "../config/simulator-config";
import type { Image, ImageExtras } from "../state/image-extras";

const unknownRelease = "2025-01-01T00:00:00.000Z";

/** A base image with what the depot says of it; details are absent where the depot does not have it. */
export function baseImage(config: SimulatorConfig, version: string) {
  const offered = config.depot.find((image) => image.version === version);
  return {
    version,
    ...(offered && {
      details: {
        display_name: offered.displayName ?? "ESX",
        display_version: version.split("-")[0] ?? version,
        release_date: offered.releaseDate ?? unknownRelease,
      },
    }),
  };
}

interface Named {
  readonly name: string;
  readonly version: string;
}

const detailsOf = (list: SimulatorConfig["addOns"], { name, version }: Named) => {
  const offered = list?.find((offer) => offer.name === name && offer.version === version);
  return offered
    ? {
        details: {
          display_name: offered.displayName ?? name,
          vendor: offered.vendor ?? "VENDOR",
          display_version: version,
        },
      }
    : {};
};

/** A vendor's add-on with what the depot says of it. */
export function addOn(config: SimulatorConfig, { name, version }: Named) {
  return { name, version, ...detailsOf(config.addOns, { name, version }) };
}

/** A single component with what the depot says of it. */
export function component(config: SimulatorConfig, name: string, version: string) {
  return { version, ...detailsOf(config.components, { name, version }) };
}

/** A desired image; there are never solutions of other products in it here. */
export function software(config: SimulatorConfig, { version, extras = {} }: Image) {
  const { addOn: addOnOf, components = {}, hardwareSupport = {} }: ImageExtras = extras;
  return {
    base_image: baseImage(config, version),
    ...(addOnOf && { add_on: addOn(config, addOnOf) }),
    components: Object.fromEntries(Object.entries(components).map(([name, v]) => [name, component(config, name, v)])),
    solutions: {},
    ...(Object.keys(hardwareSupport).length > 0 && { hardware_support: { packages: hardwareSupport } }),
  };
}
