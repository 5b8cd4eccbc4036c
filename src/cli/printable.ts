/** Characters that can steer a terminal, break a line or turn the direction of a text; but not a JSON text's own line breaks. */
const steering = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/** Text of the service that cannot steer the terminal, on one line: such characters become spaces. */
export function printable(text: string): string {
  return text.replace(/\p{Cc}+/gu, " ").replace(steering, " ");
}

/** A value as JSON that cannot steer the terminal either: there such characters are escaped, so the value stays the same. */
export function printableJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent).replace(
    steering,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
