import { randomBytes, randomUUID } from 'node:crypto';
import type { EventKind } from '../../../internal/event/schema.ts';
import type { Body } from './ledger.ts';
import type { Random } from './random.ts';

/**
 * Steps of an execution: events of one step are sent at the same time, each step after the one
 * before.
 */
type Script = readonly (readonly EventKind[])[];

/** How automations behave, well or not. The specification allows all of it. */
const scripts: readonly Script[] = [
  [['START'], ['EVENT'], ['EVENT'], ['END']],
  [['START'], ['EVENT'], ['WARNING'], ['END']],
  [['START'], ['EVENT'], ['ERROR'], ['END']],
  [['START'], ['ERROR']],
  [['START'], ['EVENT'], ['EVENT'], ['EVENT']],
  [['START', 'EVENT', 'EVENT', 'END']],
  [['EVENT'], ['START'], ['END'], ['ERROR']],
  [['START'], ['START'], ['END'], ['END']],
  [['END']],
  [['START'], ['EVENT', 'WARNING', 'ERROR'], ['END'], ['EVENT']],
];

const texts = [
  'Invoice 4711 posted',
  'Käufer «Müller» geprüft',
  '処理を開始しました',
  'done 🎉',
  'tab\tand "quotes" \\ and\nlines',
  '',
];

/**
 * Makes the executions that a load plays. The automations are its own, so that its rows can be
 * found again.
 */
export class Automations {
  readonly ids: string[];
  readonly #random: Random;
  readonly #large: boolean;
  #executions = 0;

  constructor(random: Random, large: boolean) {
    this.#random = random;
    this.#large = large;
    this.ids = Array.from({ length: 8 }, () => randomUUID());
  }

  /** The bodies of one execution, step by step. Every description is unique. */
  nextExecution(): Body[][] {
    this.#executions += 1;
    const automation = this.#random.pick(this.ids);
    const execution_id = this.#random.chance(0.2)
      ? `${new Date().toISOString()} #${this.#executions}`
      : `run-${this.#executions}`;
    return this.#random.pick(scripts).map((step) => step.map((event) => this.#body(automation, execution_id, event)));
  }

  #body(automation: string, execution_id: string, event: EventKind): Body {
    const padding =
      this.#large || this.#random.chance(0.02) ? randomBytes(this.#random.int(1, 6_700)).toString('base64') : '';
    const description = `${randomUUID()} ${this.#random.pick(texts)}${padding}`;
    const body = {
      automation_id: this.#random.chance(0.1) ? automation.toUpperCase() : automation,
      execution_id,
      event,
      description,
    };
    if (event !== 'ERROR' || this.#random.chance(0.2)) return body;
    return {
      ...body,
      error_id: `E-${this.#random.int(1, 99)}`,
      error_description: `at step (${this.#random.pick(texts)})`,
    };
  }
}
