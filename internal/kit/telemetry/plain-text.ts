/** Control characters, line separators, and those that change the direction of a text. */
const unseen = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]+/gu;

/**
 * A text as a person sees it, for logs and for lists that people read. Control characters can forge
 * a line or drive a terminal, and those of bidirectional text show one name as another.
 */
export function plainText(text: string): string {
  return text.search(unseen) < 0 ? text : text.replaceAll(unseen, replacementOf).trim();
}

/** What separated two words still does. */
function replacementOf(characters: string): string {
  return /[\s\p{Cc}]/u.test(characters) ? ' ' : '';
}

/** The same for all texts in plain objects and arrays; other objects stay as they are. */
export function plainTexts(value: unknown, depth = 4): unknown {
  if (typeof value === 'string') return plainText(value);
  if (depth === 0 || typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((part) => plainTexts(part, depth - 1));
  if (Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, plainTexts(part, depth - 1)]));
}
