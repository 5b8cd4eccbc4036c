import stringWidth from "string-width";

const characters = new Intl.Segmenter();

/** How many columns of a terminal a text takes: wide characters take two, colours none. */
export function widthOf(text: string): number {
  return isPlain(text) ? text.length : stringWidth(text);
}

/** The text, without colours, in so many columns; an ellipsis says that there is more. */
export function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let room = width - 1;
  if (room < 0) return "";
  let kept = "";
  for (const { segment } of characters.segment(text)) {
    room -= widthOf(segment);
    if (room < 0) break;
    kept += segment;
  }
  return `${kept}…`;
}

/** The text, filled up with spaces to so many columns. */
export function padded(text: string, width: number): string {
  return text + " ".repeat(Math.max(width - widthOf(text), 0));
}

/** Most lines are, and need no look at each of their characters. */
function isPlain(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text);
}
