import { readFileSync } from "node:fs";
import { expect } from "chai";
import type { Page } from "playwright-core";

const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

/** The widths that the console is made for, in pixels. */
export const wide = { width: 1280, height: 900 };
export const narrow = { width: 390, height: 844 };

/** What axe-core complains about on the page as it is, each with the elements. */
export async function axeComplaints(page: Page): Promise<string[]> {
  // The page's policy lets no script in by a tag; the debugger's own way does not ask it.
  await page.evaluate(axe);
  return page.evaluate(
    "axe.run().then(({ violations }) => violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`))",
  );
}

/**
 * Holds the page as it is, with whatever is open on it, against axe-core in light and dark at both widths, and that
 * nothing is beyond its right edge.
 */
export async function expectAccessible(page: Page): Promise<void> {
  const before = page.viewportSize() ?? wide;
  for (const size of [wide, narrow]) {
    await page.setViewportSize(size);
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await axeComplaints(page), `${colorScheme}, ${size.width} pixels`).to.deep.equal([]);
    }
    expect(await overflow(page), `beyond the right edge of ${size.width} pixels`).to.be.at.most(0);
  }
  await page.setViewportSize(before);
  await page.emulateMedia({ colorScheme: "light" });
}

function overflow(page: Page): Promise<number> {
  return page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
}
