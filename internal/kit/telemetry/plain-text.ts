/** Control characters, line separators, and characters that change the direction of text. */
const unseen = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]+/gu;

/**
 * Makes a text safe for logs and lists that people read. Control characters can forge a line or
 * drive a terminal; bidirectional ones can show one name as another.
 */
export function plainText(text: string): string {
  return text.search(unseen) < 0 ? text : text.replaceAll(unseen, replacementOf).trim();
}

/** Keeps two words separate that the characters separated. */
function replacementOf(characters: string): string {
  return /[\s\p{Cc}]/u.test(characters) ? ' ' : '';
}

/** The same for all texts in plain objects and arrays; leaves other objects alone. */
export function plainTexts(value: unknown, depth = 4): unknown {
  if (typeof value === 'string') return plainText(value);
  if (depth === 0 || typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((part) => plainTexts(part, depth - 1));
  if (Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, plainTexts(part, depth - 1)]));
}
