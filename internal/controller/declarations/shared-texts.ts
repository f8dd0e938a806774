/** Maximum number of texts remembered. */
const most = 2_000;

/**
 * Interns texts. Thousands of resources have the same reasons and times; copies would take 400
 * bytes each.
 */
export class SharedTexts {
  readonly #texts = new Map<string, string>();

  /** Returns the first copy of a text. */
  share<T extends string | undefined>(text: T): T {
    if (text === undefined) return text;
    const known = this.#texts.get(text);
    if (known !== undefined) return known as T;
    if (this.#texts.size >= most) this.#texts.clear();
    this.#texts.set(text, text);
    return text;
  }
}
