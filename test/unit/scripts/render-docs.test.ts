import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect } from "chai";

const root = resolve(__dirname, "../../..");

interface RenderDocs {
  readonly renderDocs: (folder: string) => void;
}

interface DocumentSources {
  readonly documentSources: () => readonly string[];
}

interface Page {
  readonly address: string;
  readonly html: string;
}

describe("the rendered documents", () => {
  const folder = mkdtempSync(join(tmpdir(), "ums-rendered-"));
  let pages: readonly Page[];
  let sources: readonly string[];
  before(async () => {
    const scripts = resolve(root, "scripts");
    const { renderDocs } = (await import(join(scripts, "render-docs.mjs"))) as RenderDocs;
    const { documentSources } = (await import(join(scripts, "document-sources.mjs"))) as DocumentSources;
    sources = documentSources();
    renderDocs(folder);
    pages = readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".html"))
      .map((name) => ({
        address: name === "index.html" ? "/docs" : `/docs/${name.replace(/\.html$/, "")}`,
        html: readFileSync(join(folder, name), "utf8"),
      }));
  });
  after(() => rmSync(folder, { recursive: true }));

  const pageAt = (address: string) => pages.find((page) => page.address === address);

  it("are every document, each with one title and what a phone needs", () => {
    const rendered = sources.filter((file) => file.endsWith(".md"));
    // The list of decision records is a page too.
    expect(pages.length).to.equal(rendered.length + 1);
    for (const { address, html } of pages) {
      expect(html.match(/<h1 /g), address).to.have.length(1);
      expect(html, address)
        .to.match(/<title>[^<]+ · Upgrade management<\/title>/)
        .and.contain("width=device-width");
    }
  });

  it("link only to pages, headings and images that are there", () => {
    const broken = pages.flatMap(({ address, html }) =>
      [...html.matchAll(/(?:href|src)="([^"]+)"/g)]
        .map(([, link = ""]) => link)
        .filter((link) => !/^https?:/.test(link) && !isThere(link, address))
        .map((link) => `${address}: ${link}`),
    );
    expect(broken).to.deep.equal([]);
  });

  function isThere(link: string, from: string): boolean {
    if (link === "/" || link.startsWith("/docs/api")) return true;
    if (link === "/docs/style.css" || link.startsWith("/docs/images/"))
      return existsSync(join(folder, link.slice("/docs/".length)));
    const [address = "", id] = link.split("#");
    const page = pageAt(address === "" ? from : address);
    return page !== undefined && (id === undefined || page.html.includes(` id="${id}"`));
  }

  it("have each heading once by its id", () => {
    for (const { address, html } of pages) {
      const ids = [...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
      expect(ids, address).to.deep.equal([...new Set(ids)]);
    }
  });

  it("run no script and have no style inside, which their policy would refuse", () => {
    for (const { address, html } of pages)
      expect(html, address).to.not.match(/<script|<style|style=|<[^>]*\son\w+=|javascript:/);
  });

  it("list in their navigation every page that the index names", () => {
    const { html = "" } = pageAt("/docs") ?? {};
    const [main = "", navigation = ""] = html.split('<nav id="pages"');
    const linksOf = (text: string) => [...text.matchAll(/href="(\/docs\/[\w/-]+)"/g)].map(([, link]) => link);
    const named = linksOf(main.slice(main.indexOf("<main")));
    expect(named).to.include.members(["/docs/readme", "/docs/operating", "/docs/decisions"]);
    expect(linksOf(navigation)).to.deep.equal([...new Set(named)]);
    const inDocs = pages
      .map(({ address }) => address)
      .filter((address) => !/^\/docs\/decisions\/|^\/docs$/.test(address));
    expect(linksOf(navigation)).to.have.members(inDocs.filter((address) => address !== "/docs/security"));
  });

  it("are made in the image of what .dockerignore lets in and the Dockerfile copies", () => {
    const dockerfile = readFileSync(join(root, "Dockerfile"), "utf8").split("RUN node scripts/build.mjs")[0] ?? "";
    const copied = [...dockerfile.matchAll(/^COPY (.+) \S+$/gm)].flatMap(([, names = ""]) => names.split(" "));
    const allowed = readFileSync(join(root, ".dockerignore"), "utf8")
      .split("\n")
      .filter((line) => line.startsWith("!"))
      .map((line) => line.slice(1));
    for (const top of new Set(sources.map((file) => file.split("/")[0] ?? ""))) {
      expect(copied).to.include(top);
      expect(allowed).to.include(top);
    }
  });
});
