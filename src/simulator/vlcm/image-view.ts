import type { SimulatorConfig } from "../config/simulator-config";

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

/** A desired image: here always a base image alone, without add-on, components and solutions. */
export function software(config: SimulatorConfig, version: string) {
  return { base_image: baseImage(config, version), components: {}, solutions: {} };
}
