import { mkdtempSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import * as E from "fp-ts/Either";
import * as O from "fp-ts/Option";
import { readCatalog } from "../../../src/catalog/file-catalog";
import { productsOf } from "../../../src/domain/plan/facts";

const shipped = "config/bundles.yaml";

describe("readCatalog", () => {
  let folder: string;
  before(() => (folder = mkdtempSync(join(tmpdir(), "catalog-"))));
  after(() => rmSync(folder, { recursive: true }));

  function written(yaml: string): string {
    const file = join(folder, "bundles.yaml");
    writeFileSync(file, yaml);
    return file;
  }

  async function find(file: string, id: string) {
    const catalog = readCatalog(file);
    if (E.isLeft(catalog)) throw new Error(catalog.left.join("\n"));
    const found = await catalog.right.find(id)();
    return E.isRight(found) ? O.toUndefined(found.right) : undefined;
  }

  it("names every field that is not known, with the one that was meant", () => {
    const bundle =
      "{id: 7d1c1f6e-3a52-4f0e-9c11-5c0a90010001, downloadSatus: SUCCESSFUL, components: [{toVersoin: '9'}]}";
    const catalog = readCatalog(written(`[${bundle}]`));
    expect(E.isLeft(catalog) && catalog.left.slice(0, 2)).to.deep.equal([
      "Bundle 0: downloadSatus: there is no such field. Did you mean downloadStatus?",
      "Bundle 0: components[0].toVersoin: there is no such field. Did you mean toVersion?",
    ]);
  });

  it("reads the catalog that is shipped: what can be installed and what is refused", async () => {
    const statuses = new Map<string, string | undefined>();
    for (const end of ["0a90010001", "0a90020002", "0a90030003", "0a8fff0000", "0a9fff0001"]) {
      const bundle = await find(shipped, `7d1c1f6e-3a52-4f0e-9c11-5c${end}`);
      if (!bundle) throw new Error(`bundle ${end} is not there`);
      statuses.set(`${productsOf(bundle).join()} ${bundle.version}`, bundle.downloadStatus);
    }
    expect(Object.fromEntries(statuses)).to.deep.equal({
      "HOSTOS 9.0.1": "SUCCESSFUL",
      "HOSTOS 9.0.2": "SUCCESSFUL",
      "HOSTOS 9.0.3": "PENDING",
      "HOSTOS 9.0.0.1": "RECALLED",
      "NETVIRT,MGMT,HOSTOS 9.0.2": "SUCCESSFUL",
    });
  });

  it("takes versions as vendors write them, and finds a UUID in any case", async () => {
    const id = "7D1C1F6E-3A52-4F0E-9C11-5C0A90010001";
    const versions = ["9.0.1-24957456", "9.0.1-0.24957456", "9.0.2.0-25148086", "9.0.1.0.24952111"];
    const components = versions.map((version) => `{type: HOSTOS, toVersion: ${version}}`).join(", ");
    const file = written(`- {id: ${id}, components: [${components}, {type: MGMT, toVersion: 9.0.2.0}]}`);
    expect((await find(file, id.toLowerCase()))?.components).to.have.length(5);
  });

  it("finds nothing under another id", async () => {
    for (const id of ["no-such-bundle", "__proto__", "constructor", ""]) {
      expect(await find(shipped, id), id).to.equal(undefined);
    }
  });

  it("may be empty", async () => {
    expect(await find(written("[]"), "b")).to.equal(undefined);
  });

  const wrong: Readonly<Record<string, readonly [yaml: string, ...lines: RegExp[]]>> = {
    "no list": ["bundles: []", /^The catalog must be a list of bundles\.$/],
    "an empty file": ["# nothing yet", /^The catalog must be a list of bundles\.$/],
    "no YAML": ["- id: [", /.+/],
    "a bundle without an id": ["- {id: a}\n- {version: '1'}", /^Bundle 1: id is missing/],
    "an entry that is no bundle": ["- just text", /^Bundle 0: the whole entry/],
    "a number for a version": ["- {id: a, version: 9.0}", /^Bundle 0: version is/],
    "every wrong field, each once": [
      "- {id: a, severity: HIGH, components: [{id: x}, {toVersion: 9}]}\n- {id: b, type: hci}",
      /^Bundle 0: severity is/,
      /^Bundle 0: components\.1\.toVersion is/,
      /^Bundle 1: type is/,
    ],
    "an id that is there twice": ["- {id: a}\n- {id: b}\n- {id: a}\n- {id: a}", /^Bundle a occurs twice\.$/],
    "products without a version to go to": [
      "- {id: a, components: [{type: MGMT}, {type: HOSTOS}, {type: OTHER}]}",
      /^Bundle a: its MGMT component has no toVersion\.$/,
      /^Bundle a: its HOSTOS component has no toVersion\.$/,
    ],
    "versions that no manager could offer": [
      "- {id: a, components: [{type: HOSTOS, toVersion: latest}, {type: MGMT, toVersion: '9'}]}\n- {id: b, components: [{type: HOSTOS, toVersion: 9.0.1}, {type: NETVIRT, toVersion: v9.0.1}]}",
      /^Bundle a: toVersion latest of its HOSTOS component is not a release and build such as/,
      /^Bundle a: toVersion 9 of its MGMT component is not a version such as/,
      /^Bundle b: toVersion 9\.0\.1 of its HOSTOS component/,
      /^Bundle b: toVersion v9\.0\.1 of its NETVIRT component/,
    ],
  };
  for (const [what, [yaml, ...lines]] of Object.entries(wrong)) {
    it(`says what is wrong with ${what}`, () => {
      const read = readCatalog(written(yaml));
      const problems = E.isLeft(read) ? read.left : [];
      expect(problems).to.have.length(lines.length);
      lines.forEach((line, i) => expect(problems[i]).to.match(line).and.not.contain("\n"));
    });
  }

  describe("while it is in use", () => {
    const [recalled, other] = ["- {id: a, downloadStatus: RECALLED}\n- {id: b}", "- {id: b}\n- {id: c}"];
    const news: string[] = [];
    beforeEach(() => (news.length = 0));

    function open(file: string) {
      const catalog = readCatalog(file, {
        onRenewed: (bundles) => news.push(`renewed: ${bundles.map(({ id }) => id).join()}`),
        onBroken: (lines) => news.push(`broken: ${lines.join()}`),
      });
      if (E.isLeft(catalog)) throw new Error(catalog.left.join("\n"));
      const { list, find, problems } = catalog.right;
      return {
        ids: async () => E.getOrElse((): readonly { id: string }[] => [])(await list()()).map(({ id }) => id),
        status: async (id: string) => {
          const found = await find(id)();
          return E.isRight(found) ? O.toUndefined(found.right)?.downloadStatus : undefined;
        },
        codes: () => problems().map(({ errorCode }) => errorCode),
      };
    }

    it("is as its file is whenever it is asked", async () => {
      const file = written("- {id: a, downloadStatus: SUCCESSFUL}");
      const catalog = open(file);
      expect([await catalog.status("a"), await catalog.ids()]).to.deep.equal(["SUCCESSFUL", ["a"]]);
      written(recalled);
      expect([await catalog.status("a"), await catalog.ids()]).to.deep.equal(["RECALLED", ["a", "b"]]);
      written(other);
      expect([await catalog.status("a"), await catalog.ids()]).to.deep.equal([undefined, ["b", "c"]]);
      expect(news).to.deep.equal(["renewed: a,b", "renewed: b,c"]);
    });

    it("notices a change that leaves the file's size and times as they were", async () => {
      const file = written("- {id: a}");
      const { atime, mtime } = statSync(file);
      const catalog = open(file);
      written("- {id: b}");
      utimesSync(file, atime, mtime);
      expect(await catalog.ids()).to.deep.equal(["b"]);
    });

    it("keeps what was read before while the file cannot be used, and tells each state of it once", async () => {
      const file = written(recalled);
      const catalog = open(file);
      for (const [yaml, wrong] of [
        ["- {id: a\n- {id: b}", /^broken: .* at line \d+, column \d+/],
        ["- {id: a, severity: HIGH}", /^broken: Bundle 0: severity is/],
      ] as const) {
        written(yaml);
        for (let i = 0; i < 3; i++) expect(await catalog.ids()).to.deep.equal(["a", "b"]);
        expect(catalog.codes()).to.deep.equal(["CATALOG_UNUSABLE"]);
        expect(await catalog.status("a")).to.equal("RECALLED");
        expect(news.splice(0)).to.satisfy(([line, ...more]: string[]) => wrong.test(line ?? "") && more.length === 0);
      }
      rmSync(file);
      expect(catalog.codes()).to.deep.equal(["CATALOG_UNUSABLE"]);
      expect(news.splice(0).join()).to.match(/^broken: ENOENT.*bundles\.yaml/);
      written(recalled);
      expect(catalog.codes()).to.deep.equal([]);
      expect(news).to.deep.equal(["renewed: a,b"]);
    });
  });

  it("says which file is not there", () => {
    const read = readCatalog(join(folder, "missing.yaml"));
    expect(E.isLeft(read) && read.left.join()).to.contain("missing.yaml");
  });
});
