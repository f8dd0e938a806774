/** Where progress is shown, if it is a terminal. */
export interface Terminal {
  readonly isTTY?: boolean;
  /** The width of a line; unknown unless given. */
  readonly columns?: number;
  write(text: string): unknown;
}

/** How far a command has got. */
export interface Progress {
  /** Units of work so far, of `total`. */
  readonly done: number;
  readonly total: number;
  /** Events so far. */
  readonly events: number;
  /** Leaves of a log so far, shown in place of events. */
  readonly leaves?: number;
  /** The part that the command is working on. */
  readonly part?: string;
}

/** Time between two redraws of the bar, in ms. */
const everyMs = 100;

const width = 24;

/** A progress bar on one line of a terminal. Shows nothing elsewhere. */
export class ProgressBar {
  readonly #terminal: Terminal;
  readonly #begun = performance.now();
  #shownAt = -Infinity;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  show({ done, total, events, leaves, part }: Progress): void {
    const now = performance.now();
    if (this.#terminal.isTTY !== true || now - this.#shownAt < everyMs) return;
    this.#shownAt = now;
    const share = total === 0 ? 1 : Math.min(1, done / total);
    const full = Math.floor(width * share);
    const [shown, unit] = leaves === undefined ? [events, 'events'] : [leaves, 'leaves'];
    const rate = Math.round((shown * 1_000) / Math.max(1, now - this.#begun));
    const bar = `[${'#'.repeat(full)}${'-'.repeat(width - full)}] ${Math.floor(100 * share)} %`;
    const count = `${shown.toLocaleString('en')} ${unit}, ${rate.toLocaleString('en')} a second`;
    this.#terminal.write(`\r\u001b[K${this.#cut([bar, part, count].filter(Boolean).join('  '))}`);
  }

  /** Makes room for another line if the bar is shown. */
  clear(): void {
    if (this.#shownAt > -Infinity) this.#terminal.write('\r\u001b[K');
    this.#shownAt = -Infinity;
  }

  /** Cuts a text that would wrap: the next redraw would replace only its last line. */
  #cut(text: string): string {
    const { columns = 0 } = this.#terminal;
    return columns > 0 ? text.slice(0, columns - 1) : text;
  }
}
