/** What happened in a run, to be read by a person after it failed. */
export class Timeline {
  /** Prints every line as well. */
  echo = false;
  readonly #startedAt = performance.now();
  readonly #lines: string[] = [];

  note(text: string): void {
    const seconds = ((performance.now() - this.#startedAt) / 1_000).toFixed(1).padStart(7);
    this.#lines.push(`${seconds} s  ${text}`);
    if (this.echo) console.log(this.#lines.at(-1));
  }

  /** The last 40 lines, newest last. */
  tail(): string {
    return this.#lines.slice(-40).join('\n');
  }
}
