import { expect } from "chai";
import type { Locator, Page } from "playwright-core";

/** As many presses as anybody would bear. */
const mostPresses = 80;

/**
 * Presses Tab until the element has the focus, as somebody without a mouse does, and expects that to be visible. The page
 * follows the service with a delay: the element is waited for first, as somebody with eyes does.
 */
export async function tabTo(page: Page, target: Locator): Promise<void> {
  await target.first().waitFor();
  const passed: string[] = [];
  for (let i = 0; i < mostPresses; i++) {
    if (await hasFocus(target)) return expectVisibleFocus(page);
    passed.push(await focusedText(page));
    await page.keyboard.press("Tab");
  }
  throw new Error(`Tab never comes to it, only to: ${[...new Set(passed)].join(" | ")}`);
}

/** Tab to the element, then one more key. */
export async function pressOn(page: Page, target: Locator, key: "Enter" | "Space"): Promise<void> {
  await tabTo(page, target);
  await page.keyboard.press(key);
}

/** Whether the element, or one in it, has the focus. */
export async function hasFocus(target: Locator): Promise<boolean> {
  if ((await target.count()) === 0) return false;
  return target.first().evaluate((element) => element === element.ownerDocument.activeElement);
}

/** What has the focus, in the words that it shows. */
export function focusedText(page: Page): Promise<string> {
  return page.evaluate(
    "`${document.activeElement?.tagName} ${document.activeElement?.textContent?.slice(0, 40)}`.trim()",
  );
}

async function expectVisibleFocus(page: Page): Promise<void> {
  const outline = await page.evaluate(
    "(({ outlineStyle, outlineWidth }) => `${outlineStyle} ${outlineWidth}`)(getComputedStyle(document.activeElement))",
  );
  expect(outline, "the focus ring").to.equal("solid 3px");
}
