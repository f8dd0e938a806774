import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { stolenTime } from './cpu.ts';
import type { Figure } from './figures.ts';

/** How long the machine is looked at, and how long it is left alone when it was not calm, in ms. */
const lookMs = 1_000;
const pauseMs = 2_000;

/** Small writes with pauses in between, in ms: each wakes a core, which a hypervisor that has given it away shows as stolen time. */
const pauseOfWritesMs = 2;
const written = Buffer.alloc(2_048, 'x');

/** On a calm machine the hypervisor takes at most so many ms from all cores meanwhile: one tick of the clock that counts it. */
const calmMs = 10;

/**
 * Waits until the machine is calm (README.md, "A calm machine"). Told by a look at it while nobody sends events, so that no side's
 * own work decides when it is measured; what happens in a round that has begun is not looked at.
 */
export class Calm {
  readonly #file: string;
  readonly #patienceMs: number;
  #waitedMs = 0;
  #calm = 0;
  #rounds = 0;

  /** At most `patienceMs` in all are spent on a machine that is not calm; with 0 nobody looks. What is written lies in `folder`. */
  constructor(folder: string, patienceMs: number) {
    this.#file = join(folder, 'calm');
    this.#patienceMs = patienceMs;
  }

  /** Resolves when the machine is calm, or when patience has ended. */
  async wait(): Promise<void> {
    if (this.#patienceMs === 0) return;
    let calm = await this.#isCalm();
    while (!calm && this.#waitedMs < this.#patienceMs) {
      await sleep(pauseMs);
      calm = await this.#isCalm();
      this.#waitedMs += pauseMs + lookMs;
    }
    this.#rounds += 1;
    if (calm) this.#calm += 1;
  }

  /** How much of what was measured began on a calm machine, and how long that was waited for after the first looks. */
  get figures(): Figure[] {
    if (this.#rounds === 0) return [];
    return [
      { name: 'Rounds begun on a calm machine', value: (this.#calm / this.#rounds) * 100, unit: '%' },
      { name: 'Waited for calm', value: this.#waitedMs / 1_000, unit: 's' },
    ];
  }

  async #isCalm(): Promise<boolean> {
    await using file = await open(this.#file, 'w');
    const [before, begun] = [await stolenTime(), performance.now()];
    while (performance.now() - begun < lookMs) {
      await file.write(written);
      await file.datasync();
      await sleep(pauseOfWritesMs);
    }
    return (await stolenTime()) - before <= calmMs;
  }
}
