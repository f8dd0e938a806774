import type { Progress } from '../../internal/archive/export-days.ts';
import { isoDay } from '../../internal/store/days.ts';

/** Where progress is shown, if it is a terminal. */
export interface Terminal {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

/** Time between two pictures of the bar, in ms. */
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

  show({ organization, day, done, total, events }: Progress): void {
    const now = performance.now();
    if (this.#terminal.isTTY !== true || now - this.#shownAt < everyMs) return;
    this.#shownAt = now;
    const full = Math.floor((width * done) / total);
    const rate = Math.round((events * 1_000) / Math.max(1, now - this.#begun));
    const bar = `[${'#'.repeat(full)}${'-'.repeat(width - full)}] ${Math.floor((100 * done) / total)} %`;
    const rows = `${events.toLocaleString('en')} events, ${rate.toLocaleString('en')} a second`;
    this.#terminal.write(`\r\u001b[K${bar}  ${organization} ${isoDay(day)}  ${rows}`);
  }

  /** Makes room for another line. */
  clear(): void {
    if (this.#terminal.isTTY === true) this.#terminal.write('\r\u001b[K');
    this.#shownAt = -Infinity;
  }
}
