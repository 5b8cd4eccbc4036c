import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";

interface LockedPackage {
  readonly version?: string;
  readonly resolved?: string;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

describe("package-lock.json", () => {
  const text = readFileSync(join(__dirname, "../../../package-lock.json"), "utf8");
  const { packages } = JSON.parse(text) as { packages: Record<string, LockedPackage> };

  // A registry that lacks a platform's build makes `npm install` leave it out of the lock, and every `npm ci` fails then.
  it("holds the builds for every platform of each package, so that npm ci takes it", () => {
    const missing = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies)
        .filter((name) => !places(path, name).some((place) => place in packages))
        .map((name) => `${path}: ${name}`),
    );
    expect(missing).to.deep.equal([]);
  });

  it("names no registry, so that everybody's own is used", () => {
    expect(Object.values(packages).filter(({ resolved }) => resolved !== undefined)).to.deep.equal([]);
  });
});

/** Where npm looks for what a package at a path needs, innermost first. */
function places(path: string, name: string): string[] {
  const folders = path.split("/node_modules/").map((_, i, all) => all.slice(0, all.length - i).join("/node_modules/"));
  return [
    ...folders.filter((folder) => folder !== "").map((folder) => `${folder}/node_modules/${name}`),
    `node_modules/${name}`,
  ];
}
