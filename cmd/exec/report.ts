import { createHash, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { ClientSettings } from '../../internal/config/client-settings.ts';
import type { CommandEnd } from '../../internal/job/command.ts';
import { noSpool } from '../../internal/outbox/no-spool.ts';
import { Outbox, type OutboxOptions } from '../../internal/outbox/outbox.ts';
import type { Outgoing } from '../../internal/outbox/outgoing.ts';
import { Spool, SpoolFull } from '../../internal/outbox/spool.ts';
import { Delivery } from './delivery.ts';

/** A run of a command. */
export interface Run {
  readonly automation: string;
  readonly execution: string | undefined;
  readonly description: string;
  /** In ms. */
  readonly startedAt: number;
}

/** The texts of an event. */
interface Texts {
  readonly description: string;
  readonly error_id?: string;
  readonly error_description?: string;
}

/** The end of a report. */
export interface Reported {
  /** False if something is still under way. */
  readonly settled: boolean;
  /** For those who look for them. */
  readonly problems: readonly string[];
  /** For everybody: the spool cannot be used. */
  readonly warning: string | undefined;
}

/** Reports one run, in the background. */
export class Report {
  readonly #run: Run;
  readonly #execution: string;
  readonly #settings: ClientSettings;
  readonly #delivery: Delivery;
  readonly #outbox: Outbox;
  readonly #problems = new Set<string>();
  #warning: string | undefined;

  /** Reports START. */
  constructor(run: Run, settings: ClientSettings) {
    this.#run = run;
    this.#execution = run.execution ?? `${new Date(run.startedAt).toISOString()}-${randomUUID().slice(0, 8)}`;
    this.#settings = settings;
    const note = (problem: string): unknown => this.#problems.add(problem);
    this.#delivery = new Delivery(settings, note);
    const onUnspooled = (reason: unknown): void => this.#noteUnspooled(reason);
    const { send, sendMany } = this.#delivery;
    this.#outbox = new Outbox({ spool: spoolOf(settings), send, sendMany, onUnspooled });
    this.#outbox.add(this.#event('START', run.startedAt, { description: run.description }));
  }

  /** Reports the end. Resolves when all is delivered or spooled, or the time for it is over. */
  async end({ ended, tail }: CommandEnd): Promise<Reported> {
    const now = Date.now();
    const seconds = ((now - this.#run.startedAt) / 1_000).toFixed(1);
    const said = 'code' in ended ? `exit code ${ended.code}` : `signal ${ended.signal}`;
    const description = `Ended with ${said} after ${seconds} s`;
    const hasFailed = !('code' in ended) || ended.code !== 0;
    const id = 'code' in ended ? String(ended.code) : ended.signal;
    const error = { description, error_id: id, error_description: tail };
    const failure = hasFailed ? [this.#event('ERROR', now, error)] : [];
    this.#outbox.add(...failure, this.#event('END', now, { description }));
    const settled = await this.#outbox.settle(this.#timeoutMs());
    this.#delivery.close();
    return { settled, problems: [...this.#problems], warning: this.#warning };
  }

  /** A full spool passes. Anything else is for people to change, and each run says it once. */
  #noteUnspooled(reason: unknown): void {
    const said = reason instanceof Error ? reason.message : String(reason);
    if (reason instanceof SpoolFull) this.#problems.add(`cannot spool an event: ${said}`);
    else this.#warning ??= `cannot spool events: ${said}`;
  }

  #timeoutMs(): number {
    try {
      return this.#settings.timeoutMs();
    } catch (error) {
      this.#problems.add(error instanceof Error ? error.message : String(error));
      return 2_000;
    }
  }

  #event(event: string, at: number, texts: Texts): Outgoing {
    const ids = { automation_id: this.#run.automation, execution_id: this.#execution };
    const body = JSON.stringify({ ...ids, event, ...texts, occurred_at: new Date(at).toISOString() });
    return { key: randomUUID(), body, at };
  }
}

/** The spool of the receiver that the settings name. */
function spoolOf(settings: ClientSettings): OutboxOptions['spool'] {
  try {
    const { folder, ...bounds } = settings.spool();
    return new Spool({ folder: join(folder, receiverFolder(settings)), ...bounds });
  } catch (error) {
    return noSpool(error);
  }
}

/** The name of the receiver's folder in the spool. */
export function receiverFolder(settings: ClientSettings): string {
  return createHash('sha256').update(settings.receiver()).digest('hex').slice(0, 12);
}
