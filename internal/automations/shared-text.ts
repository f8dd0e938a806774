/** Most texts that are remembered. */
const most = 2_000;

const texts = new Map<string, string>();

/**
 * Returns the copy of a text that came first. Thousands of resources have the same reasons and
 * times, and each would have copies of its own: 400 bytes.
 */
export function shared<T extends string | undefined>(text: T): T {
  if (text === undefined) return text;
  const known = texts.get(text);
  if (known !== undefined) return known as T;
  if (texts.size >= most) texts.clear();
  texts.set(text, text);
  return text;
}
