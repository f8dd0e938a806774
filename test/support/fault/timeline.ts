/** What happened in a run, to be read by a person after it failed. */
export class Timeline {
  readonly #startedAt = performance.now();
  readonly #lines: string[] = [];
  readonly #echo: boolean;

  constructor(echo: boolean) {
    this.#echo = echo;
  }

  note(text: string): void {
    const seconds = ((performance.now() - this.#startedAt) / 1_000).toFixed(1).padStart(7);
    const line = `${seconds} s  ${text}`;
    this.#lines.push(line);
    if (this.#echo) console.log(line);
  }

  /** The last lines, newest last. */
  tail(count = 40): string {
    return this.#lines.slice(-count).join('\n');
  }
}
