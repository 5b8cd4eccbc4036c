import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path/posix";
import { Marked, Renderer } from "marked";
import { documentSources } from "./document-sources.mjs";
import { root } from "./run.mjs";

const index = "docs/README.md";
const decisions = "docs/decisions/";

/**
 * Renders the documents of this checkout as the HTML that the API serves at `/docs`: one file per page, the style and
 * the images. Links between pages become links of the service; a link to any other file becomes its text.
 */
export function renderDocs(folder) {
  const sources = documentSources().filter((file) => file.endsWith(".md"));
  const pages = [...sources.map(readPage), decisionsPage(sources)];
  const navigation = navigationOf(pages);
  for (const page of pages) {
    const file = join(folder, `${page.address === "/docs" ? "index" : page.address.slice("/docs/".length)}.html`);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, documentOf(page, pages, navigation));
  }
  mkdirSync(join(folder, "images"), { recursive: true });
  for (const name of readdirSync(join(root, "docs/images")))
    copyFileSync(join(root, "docs/images", name), join(folder, "images", name));
  copyFileSync(join(root, "scripts/render-docs.css"), join(folder, "style.css"));
}

function readPage(source) {
  const markdown = readFileSync(join(root, source), "utf8");
  return { source, markdown, address: addressOf(source), title: titleOf(markdown) };
}

/** The folder of decision records as a page: GitHub shows a list of files there. */
function decisionsPage(sources) {
  const records = sources.filter((source) => source.startsWith(decisions));
  const items = records.map((source) => `- [${readPage(source).title}](${basename(source)})`);
  const markdown = `# Decision records\n\n${items.join("\n")}\n`;
  return { source: decisions, markdown, address: "/docs/decisions", title: titleOf(markdown) };
}

/** `docs/README.md` is the index; pages of the root, such as README.md, are beside those of docs/. */
function addressOf(source) {
  if (source === index) return "/docs";
  const inDocs = source.startsWith("docs/") ? source.slice("docs/".length) : source.toLowerCase();
  return `/docs/${inDocs.replace(/\.md$/, "")}`;
}

function titleOf(markdown) {
  return /^# (.+)$/m.exec(markdown)?.[1]?.replaceAll("`", "") ?? "";
}

/** The headings and links of the index: each page where a reader looks for it. */
function navigationOf(pages) {
  const { markdown } = pages.find(({ source }) => source === index);
  const [, ...sections] = markdown.split(/^## /m);
  return sections.map((section) => {
    const [heading] = section.split("\n", 1);
    const targets = [...section.matchAll(/\]\((?!https?:)([^)#]+)\)/g)].map(([, path]) => join("docs", path));
    const linked = [...new Set(targets)].map((target) => pages.find(({ source }) => source === target));
    return { heading, pages: linked.filter((page) => page !== undefined) };
  });
}

function documentOf({ source, markdown, address, title }, pages, navigation) {
  const headings = [];
  const marked = new Marked({ renderer: rendererOf(source, pages, headings) });
  const content = marked.parse(markdown);
  const sections = headings.filter(({ depth }) => depth === 2);
  const contents =
    sections.length < 3 || address === "/docs"
      ? ""
      : `<nav class="contents" aria-label="On this page"><ul>${sections
          .map(({ id, html }) => `<li><a href="#${id}">${html}</a></li>`)
          .join("")}</ul></nav>`;
  const listed = navigation.map(
    ({ heading, pages }) =>
      `<h2>${escape(heading)}</h2><ul>${pages.map((page) => navigationLink(page, address)).join("")}</ul>`,
  );
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>${escape(title)} · Upgrade management</title>
    <link rel="icon" type="image/png" href="/docs/api/favicon-32x32.png">
    <link rel="stylesheet" href="/docs/style.css">
  </head>
  <body>
    <a class="skip" href="#content">Skip to the content</a>
    <header>
      <a class="brand" href="/docs">Upgrade management</a>
      <nav aria-label="Service"><a href="/">Console</a> <a href="/docs/api">API reference</a> <a class="to-pages" href="#pages">All pages</a></nav>
    </header>
    <div class="frame">
      <main id="content" tabindex="-1">
${content.replace("</h1>", `</h1>${contents}`)}
      </main>
      <nav id="pages" aria-label="Documents">${listed.join("")}</nav>
    </div>
  </body>
</html>
`;
}

function navigationLink(page, address) {
  const current = page.address === address ? ' aria-current="page"' : "";
  return `<li><a href="${page.address}"${current}>${escape(page.title)}</a></li>`;
}

/**
 * Headings get the ids that GitHub gives them, so that one link works in both places. A link that is named after its
 * file shows the title of the page.
 */
function rendererOf(source, pages, headings) {
  const taken = new Map();
  const standard = Renderer.prototype;
  const scrolls = (html, name) => `<div class="scrolls" role="group" aria-label="${name}" tabindex="0">${html}</div>\n`;
  return {
    heading({ tokens, depth, text }) {
      const slug = slugOf(text);
      const before = taken.get(slug) ?? 0;
      taken.set(slug, before + 1);
      const id = before === 0 ? slug : `${slug}-${before}`;
      const html = this.parser.parseInline(tokens);
      headings.push({ depth, id, html });
      // An error code is linked to as it is written.
      const code = /^`(\w+)`$/.exec(text)?.[1];
      const alias = code === undefined || code === id ? "" : `<span id="${code}"></span>`;
      return `<h${depth} id="${id}">${alias}${html}</h${depth}>\n`;
    },
    link({ href, tokens }) {
      const text = this.parser.parseInline(tokens);
      if (/^https?:/.test(href)) return `<a href="${escape(href)}" rel="noreferrer">${text}</a>`;
      if (href.startsWith("#")) return `<a href="${escape(href)}">${text}</a>`;
      const [path, fragment] = href.split("#");
      const target = join(dirname(source.endsWith("/") ? `${source}.` : source), path);
      const page = pages.find((one) => one.source === target);
      if (page) {
        const shown = /^[\w/-]+\.md$/.test(text) ? escape(page.title) : text;
        return `<a href="${page.address}${fragment === undefined ? "" : `#${escape(fragment)}`}">${shown}</a>`;
      }
      return `<span title="${escape(target)} in the repository">${text}</span>`;
    },
    image({ href, text }) {
      return `<img src="/${join(dirname(source), href)}" alt="${escape(text)}" loading="lazy">`;
    },
    table(token) {
      return scrolls(standard.table.call(this, token), "Table");
    },
    code(token) {
      return scrolls(standard.code.call(this, token), "Code");
    },
  };
}

function slugOf(heading) {
  return heading
    .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replace(/\s/g, "-");
}

function escape(text) {
  return text.replace(/[&<>"]/g, (character) => `&#${character.codePointAt(0)};`);
}
