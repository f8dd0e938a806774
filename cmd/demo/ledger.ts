import type { DemoAutomation, DemoExecution } from './fleet.ts';
import type { Outcomes } from './record.ts';

type Counts = Omit<Outcomes, 'automation'>;

/** The events sent and acknowledged, by automation. */
export class Ledger {
  acknowledged = 0;
  refused = 0;
  readonly #fleet: DemoAutomation[];
  readonly #sent: Map<string, Counts>;

  constructor(fleet: DemoAutomation[]) {
    this.#fleet = fleet;
    this.#sent = new Map(fleet.map(({ id }) => [id, { running: 0, succeeded: 0, failed: 0, events: 0 }]));
  }

  /** Notes an execution whose every event got 201. */
  note(execution: DemoExecution): void {
    const counts = this.#sent.get(execution.automation);
    if (counts === undefined) return;
    counts[execution.state] += 1;
    counts.events += execution.events.length;
  }

  /** True when the record holds exactly the events that were sent. */
  matches(stored: Outcomes[]): boolean {
    return this.#rows(stored).every(({ sent, found }) => columns.every((column) => sent[column] === found[column]));
  }

  /** A table of the record's counts, with the sent counts where they differ. */
  table(stored: Outcomes[]): string {
    const body = this.#rows(stored).map(({ name, sent, found }) =>
      line(
        name,
        columns.map((column) => cell(found[column], sent[column])),
      ),
    );
    return [line('automation', columns), ...body].join('\n');
  }

  #rows(stored: Outcomes[]): { name: string; sent: Counts; found: Counts }[] {
    const none = { running: 0, succeeded: 0, failed: 0, events: 0 };
    return this.#fleet.map(({ id, name }) => ({
      name,
      sent: this.#sent.get(id) ?? none,
      found: stored.find(({ automation }) => automation === id) ?? none,
    }));
  }
}

const columns = ['succeeded', 'failed', 'running', 'events'] as const;

function cell(found: number, sent: number): string {
  return found === sent ? String(found) : `${found} (sent ${sent})`;
}

/** Columns of a terminal that a name may take. */
const longestName = 44;

function line(name: string, figures: readonly string[]): string {
  const characters = Array.from(name);
  const shown = characters.length > longestName ? `${characters.slice(0, longestName - 1).join('')}…` : name;
  return `  ${shown.padEnd(longestName)}${figures.map((figure) => figure.padStart(12)).join('')}`;
}
