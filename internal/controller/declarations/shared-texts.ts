/** Most texts that are remembered. */
const most = 2_000;

/**
 * Texts that resources share. Thousands have the same reasons and times, and each would have copies
 * of its own: 400 bytes.
 */
export class SharedTexts {
  readonly #texts = new Map<string, string>();

  /** Returns the copy of a text that came first. */
  share<T extends string | undefined>(text: T): T {
    if (text === undefined) return text;
    const known = this.#texts.get(text);
    if (known !== undefined) return known as T;
    if (this.#texts.size >= most) this.#texts.clear();
    this.#texts.set(text, text);
    return text;
  }
}
