import type { Finding } from '../harness/figures.ts';
import { names, ways } from '../harness/cost-names.ts';

/** Of the bench: what was found of each scenario, and on which machine. */
export type Results = Record<string, Finding & { machine: string }>;

/** What one event costs: CPU time in µs, the rest in bytes. */
export interface EventCosts {
  /** While events are stored as they come. */
  flow: { ingest: number; redis: number; worker: number; postgres: number };
  /** At full speed: Redis takes more events at once, and a worker drains a backlog. */
  rush: { redis: number; worker: number; postgres: number };
  /** Memory of Redis for an event that waits. */
  waiting: number;
  /** What Postgres writes to its log, and keeps with its indexes. */
  wal: number;
  kept: number;
  /** Once its day is in the archive only: its part of an execution in Postgres, and the archive. */
  cold: { executions: number; archive: number };
}

/** What was seen on the machine of the bench, to hold the arithmetic against. */
export interface Seen {
  cores: number;
  drainRate: number;
  pausedRate: number;
  waited: number;
  storedAfter: number;
}

/** @throws when the results lack a figure. */
export function readCosts(results: Results): { costs: EventCosts; seen: Seen } {
  const find = (scenario: string, name: string): number => {
    const value = results[scenario]?.figures.find((figure) => figure.name === name)?.value;
    if (value === undefined) throw new Error(`no figure "${name}": run make bench SCENARIOS=${scenario}`);
    return value;
  };
  const flow = (part: keyof typeof names): number => find('costs', `${names[part]} ${ways.flow}`);
  const drain = (part: keyof typeof names): number => find('costs', `${names[part]} ${ways.drain}`);
  return {
    costs: {
      flow: { ingest: flow('ingest'), redis: flow('redis'), worker: flow('worker'), postgres: flow('postgres') },
      rush: {
        redis: find('keys', 'CPU of Redis for an event with an Idempotency-Key at 64 connections') + drain('redis'),
        worker: drain('worker'),
        postgres: drain('postgres'),
      },
      waiting: find('burst', 'Redis memory'),
      wal: flow('wal'),
      kept: flow('kept'),
      cold: {
        executions: find('keep', 'Its part of an execution, which stays in Postgres'),
        archive: find('keep', 'An event in the archive'),
      },
    },
    seen: {
      cores: Number.parseInt(results['costs']?.machine ?? '', 10),
      drainRate: find('costs', 'A drain'),
      pausedRate: find('costs', 'A flow beside a frozen worker'),
      waited: find('costs', 'Events that waited when it thawed'),
      storedAfter: find('costs', 'They were stored after'),
    },
  };
}
