import { expect } from 'chai';
import { recordEvents } from '../../../internal/store/record-events.ts';
import { createStore } from '../../../internal/store/store.ts';
import { createTelemetry } from '../../../internal/telemetry/telemetry.ts';
import { maintenanceMetrics, maintenanceMetricsOf } from '../../../internal/telemetry/worker-metrics.ts';
import { Maintenance } from '../../../internal/worker/maintenance.ts';
import { anEvent } from '../../support/events.ts';
import { query } from '../../support/postgres-server.ts';
import { recordingLogger } from '../../support/recording-logger.ts';
import { migratedDatabase, type TestDatabase } from '../../support/store.ts';
import { until } from '../../support/until.ts';

const names = ['partitions_ahead', 'default_partition_rows', 'executions_running', 'executions_overdue'];

/**
 * The maintenance of a database again and again, and what its metrics show: a figure that is left
 * out is undefined.
 */
function startMaintenance({ db }: TestDatabase) {
  const { logger, registry } = createTelemetry('worker', 'silent');
  const store = createStore(db, { partitionsAhead: 7, retentionDays: 0, overdueAfterHours: 24 });
  const maintenance = new Maintenance(
    store,
    { intervalMs: 20, retryMs: 20 },
    maintenanceMetricsOf(maintenanceMetrics(registry)),
    logger,
  );
  const shown = async (): Promise<(number | undefined)[]> => {
    const metrics = await registry.getMetricsAsJSON();
    return names.map((name) => metrics.find((metric) => metric.name === `runledger_${name}`)?.values[0]?.value);
  };
  const untilShown = async (...figures: (number | undefined)[]): Promise<void> => {
    const wanted = JSON.stringify(figures);
    await until(`the metrics show ${wanted}`, async () => JSON.stringify(await shown()) === wanted);
  };
  return { maintenance, shown, untilShown };
}

describe('the metrics of the maintenance', () => {
  it('show the state of the tables also while every run fails, and nothing while it cannot be read', async () => {
    await using database = await migratedDatabase();
    const { maintenance, shown, untilShown } = startMaintenance(database);
    expect(await shown()).to.deep.equal([undefined, undefined, undefined, undefined]);
    await maintenance.start();
    try {
      await untilShown(8, 0, 0, 0);
      await refuseDdlWithoutPartitions(database.url);
      await recordEvents(
        database.db,
        Array.from({ length: 500 }, () => anEvent({ kind: 'EVENT' })),
      );
      await untilShown(0, 500, 1, 0);

      await query(database.url, 'alter event trigger no_ddl disable; alter table running_executions rename to away');
      await untilShown(undefined, undefined, undefined, undefined);

      await query(database.url, 'alter table away rename to running_executions');
      await untilShown(8, 0, 1, 0);
    } finally {
      await maintenance.stop();
    }
  });
});

describe('the maintenance', () => {
  it('counts the partitions that wait for the archive, and says what it lacks', async () => {
    const { registry } = createTelemetry('worker', 'silent');
    const { logger, records } = recordingLogger();
    const report = { created: [], dropped: [], moved: 0 };
    const reports = [{ ...report, waiting: { partitions: 2, reason: 'no export of acme on 2026-11-11' } }, report];
    const store = {
      maintain: () => Promise.resolve(reports.shift() ?? report),
      measure: () => Promise.resolve({ daysAhead: 8, defaultRows: 0, running: 0, overdue: 0 }),
    };
    const metrics = maintenanceMetricsOf(maintenanceMetrics(registry));
    const maintenance = new Maintenance(store, { intervalMs: 20, retryMs: 20 }, metrics, logger);
    const shown: (number | undefined)[] = [];
    const set = metrics.waiting.set.bind(metrics.waiting);
    metrics.waiting.set = (value: unknown) => (shown.push(Number(value)), set(Number(value)));
    await maintenance.start();
    try {
      await until('two runs', () => shown.length >= 2);
    } finally {
      await maintenance.stop();
    }
    expect(shown.slice(0, 2)).to.deep.equal([2, 0]);
    expect(records.filter(({ message }) => message === 'retention waits for the archive')).to.have.lengthOf(1);
  });
});

/**
 * As by somebody who dropped the partitions and took the privileges: no run of the maintenance
 * succeeds.
 */
async function refuseDdlWithoutPartitions(url: string): Promise<void> {
  await query(
    url,
    `begin;
    do $$
      declare partition text;
      begin
        for partition in select inhrelid::regclass from pg_inherits
          where inhparent = 'events'::regclass and inhrelid <> 'events_default'::regclass
        loop execute 'drop table ' || partition; end loop;
      end
    $$;
    create function refuse() returns event_trigger language plpgsql as $$ begin raise exception 'refused'; end $$;
    create event trigger no_ddl on ddl_command_start when tag in ('CREATE TABLE') execute function refuse();
    commit`,
  );
}
