import fc from "fast-check";

/** Texts with commands to a terminal, line breaks, and characters that turn the direction of a text or do not show. */
export const partlyIllegible = fc.string({
  unit: fc.constantFrom(..."aé\u0007\n\u007f\u2028\u202e\u2066\u061c\u200b\u2060\ufeff\ud83d", "\u001b[2J", "\u009b2J"),
});
