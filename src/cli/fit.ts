import cliTruncate from "cli-truncate";
import stringWidth from "string-width";

/** How many columns of a terminal a text takes: wide characters take two, colours none. */
export function widthOf(text: string): number {
  return isPlain(text) ? text.length : stringWidth(text);
}

/** The text in so many columns; an ellipsis says that there is more. */
export function cut(text: string, width: number): string {
  if (width < 1) return "";
  return isPlain(text) && text.length <= width ? text : cliTruncate(text, width);
}

/** The text, filled up with spaces to so many columns. */
export function padded(text: string, width: number): string {
  return text + " ".repeat(Math.max(width - widthOf(text), 0));
}

/** Most lines are, and need no look at each of their characters. */
function isPlain(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text);
}
