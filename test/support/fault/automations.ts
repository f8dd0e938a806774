import { randomBytes, randomUUID } from 'node:crypto';
import type { EventKind } from '../../../internal/event/schema.ts';
import type { Body } from './ledger.ts';
import type { Random } from './random.ts';

/**
 * Executions, good and bad; the API allows all of them. Steps are one after the other. The events
 * of one step are sent at the same time.
 */
const scripts = [
  'START, EVENT, EVENT, END',
  'START, EVENT, WARNING, END',
  'START, EVENT, ERROR, END',
  'START, ERROR',
  'START, EVENT, EVENT, EVENT',
  'START EVENT EVENT END',
  'EVENT, START, END, ERROR',
  'START, START, END, END',
  'END',
  'START, EVENT WARNING ERROR, END, EVENT',
].map((script) => script.split(', ').map((step) => step.split(' ') as EventKind[]));

/** Events of the scripts divided by scripts. */
export const eventsPerExecution = 3.5;

const texts = [
  'Invoice 4711 posted',
  'Käufer «Müller» geprüft',
  '処理を開始しました',
  'done 🎉',
  'tab\tand "quotes" \\ and\nlines',
  '',
];

/** Makes the executions of a load, of automations that no other load has. */
export class Automations {
  readonly ids = Array.from({ length: 8 }, () => randomUUID());
  readonly #random: Random;
  readonly #large: boolean;
  #executions = 0;

  constructor(random: Random, large: boolean) {
    this.#random = random;
    this.#large = large;
  }

  /** The bodies of one execution, step by step. */
  nextExecution(): Body[][] {
    this.#executions += 1;
    const automation = this.#random.pick(this.ids);
    const id = this.#random.chance(0.2)
      ? `${new Date().toISOString()} #${this.#executions}`
      : `run-${this.#executions}`;
    return this.#random.pick(scripts).map((step) => step.map((event) => this.#body(automation, id, event)));
  }

  #body(automation: string, execution_id: string, event: EventKind): Body {
    const random = this.#random;
    const padding = this.#large || random.chance(0.02) ? randomBytes(random.int(1, 6_700)).toString('base64') : '';
    const body = {
      automation_id: random.chance(0.1) ? automation.toUpperCase() : automation,
      execution_id,
      event,
      description: `${randomUUID()} ${random.pick(texts)}${padding}`,
    };
    return { ...body, ...(event === 'ERROR' && this.#error()), ...(random.chance(0.2) && this.#late()) };
  }

  #error(): Partial<Body> {
    const random = this.#random;
    if (random.chance(0.2)) return {};
    return { error_id: `E-${random.int(1, 99)}`, error_description: `at step (${random.pick(texts)})` };
  }

  /** The event happened four or five days ago: for a clock that is three days behind, too. */
  #late(): Partial<Body> {
    const day = 86_400_000;
    return { occurred_at: new Date(Date.now() - this.#random.int(4 * day, 5 * day)).toISOString() };
  }
}
