/** A name of its template: `{n}`, `{nn}` and `{nnn}` stand for the number with at least so many digits. */
export function numbered(template: string, number: number): string {
  return template.replace(/\{(n+)\}/g, (_, digits: string) => String(number).padStart(digits.length, "0"));
}
