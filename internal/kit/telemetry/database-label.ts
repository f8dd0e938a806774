import { Counter, Gauge, type Registry } from './metrics.ts';

/** A gauge, as seen by the part that serves one database. */
export interface GaugeOfDatabase {
  set(value: number): void;
  remove(): void;
}

/** The gauge of a database among several, labelled with its name; otherwise the plain gauge. */
export function gaugeOf(gauge: Gauge<'database'>, database: string | undefined): GaugeOfDatabase {
  if (database === undefined) return { set: (value) => gauge.set(value), remove: () => gauge.remove({}) };
  return { set: (value) => gauge.set({ database }, value), remove: () => gauge.remove({ database }) };
}

export type DatabaseMetrics = ReturnType<typeof databaseMetrics>;

/** The metrics of a worker with several databases. */
export function databaseMetrics(registry: Registry) {
  const registers = [registry];
  return {
    setAside: new Counter({
      name: 'runledger_events_set_aside_total',
      help: 'Events set aside because their database stored nothing for 3 s, or (moving) because their organization is moving to another database. They wait on disk and delay no other organization.',
      labelNames: ['database'] as const,
      registers,
    }),
    waitingJobs: new Gauge({
      name: 'runledger_database_waiting_jobs',
      help: 'Jobs with events that wait for a database, or (moving) for the end of a move. Every worker reports the same value: use max.',
      labelNames: ['database'] as const,
      registers,
    }),
  };
}
