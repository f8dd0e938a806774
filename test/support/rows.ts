import { expect } from 'chai';
import { query } from './postgres-server.ts';
import { until } from './until.ts';

/** The marks (descriptions) of all events stored. */
export async function storedMarks(database: string): Promise<string[]> {
  return (await query(database, 'select description from events')).map((row) => String(row['description']));
}

/**
 * Waits until each of these marks is stored, and checks that none is twice, and that the executions
 * count what is there. Others may be stored too: what was answered with 503 may have been committed
 * all the same.
 */
export async function expectStored(database: string, marks: string[], withinMs = 30_000): Promise<void> {
  const { stored, counted } = await until(
    'all accepted events are stored',
    async () => {
      const state = await storedAndCounted(database);
      const present = new Set(state.stored);
      return marks.every((mark) => present.has(mark)) ? state : undefined;
    },
    withinMs,
  );
  expect(new Set(stored).size, 'an event is stored twice').to.equal(stored.length);
  expect(counted, 'the executions count other events').to.equal(stored.length);
}

/** In one statement: between two, events may be stored. */
async function storedAndCounted(database: string): Promise<{ stored: string[]; counted: number }> {
  const [row] = await query(
    database,
    `select
      (select coalesce(json_agg(description), '[]') from events) as stored,
      (select coalesce(sum(start_count + event_count + warning_count + error_count + end_count), 0)::integer
        from executions) as counted`,
  );
  return row as { stored: string[]; counted: number };
}

/**
 * One figure of a registry: the value of the metric with these labels, 0 when there is none yet.
 */
export async function figure(
  registry: {
    getMetricsAsJSON(): Promise<{ name: string; values: { value: number; labels: object }[] }[]>;
  },
  name: string,
  labels: Record<string, string | number> = {},
): Promise<number> {
  const metrics = await registry.getMetricsAsJSON();
  const values = metrics.find((metric) => metric.name === name)?.values ?? [];
  const matching = values.filter((value) =>
    Object.entries(labels).every(([key, wanted]) => (value.labels as Record<string, unknown>)[key] === wanted),
  );
  return matching.reduce((sum, { value }) => sum + value, 0);
}
