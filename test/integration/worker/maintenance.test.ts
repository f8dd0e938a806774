import { expect } from 'chai';
import type { MaintenanceReport } from '../../../internal/event/outcome/maintenance-report.ts';
import { recordEvents } from '../../../internal/store/record-events.ts';
import { createStore } from '../../../internal/store/store.ts';
import { createTelemetry } from '../../../internal/kit/telemetry/telemetry.ts';
import { maintenanceMetrics, maintenanceMetricsOf } from '../../../internal/worker/worker-metrics.ts';
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
  it('says why retention drops nothing: what the archive lacks, what a person must approve, or a wrong clock', async () => {
    const { registry } = createTelemetry('worker', 'silent');
    const { logger, records } = recordingLogger();
    const report: MaintenanceReport = { created: [], dropped: [], moved: 0, clockAheadMs: 0 };
    const reports: MaintenanceReport[] = [
      { ...report, waiting: { partitions: 2, reason: 'no export of acme on 2026-11-11' } },
      { ...report, asks: { partitions: 5, before: '2026-11-18' } },
      { ...report, clockAheadMs: -90_000, clocksDiffer: true },
      report,
    ];
    const store = {
      maintain: () => Promise.resolve(reports.shift() ?? report),
      measure: () => Promise.resolve({ daysAhead: 8, defaultRows: 0, running: 0, overdue: 0 }),
    };
    const metrics = maintenanceMetricsOf(maintenanceMetrics(registry));
    const maintenance = new Maintenance(store, { intervalMs: 20, retryMs: 20 }, metrics, logger);
    const shown = { waiting: [] as number[], asked: [] as number[], clockAhead: [] as number[] };
    for (const name of ['waiting', 'asked', 'clockAhead'] as const) {
      const set = metrics[name].set.bind(metrics[name]);
      metrics[name].set = (value: number) => (shown[name].push(value), set(value));
    }
    await maintenance.start();
    try {
      await until('four runs', () => shown.clockAhead.length >= 4);
    } finally {
      await maintenance.stop();
    }
    expect(shown.waiting.slice(0, 4)).to.deep.equal([2, 0, 0, 0]);
    expect(shown.asked.slice(0, 4)).to.deep.equal([0, 5, 0, 0]);
    expect(shown.clockAhead.slice(0, 4)).to.deep.equal([0, 0, -90, 0]);
    expect(records.map(({ message }) => message).slice(0, 3)).to.deep.equal([
      'retention waits for the archive',
      'retention drops nothing until a person approves it',
      'retention drops nothing: the clock is not that of postgres',
    ]);
  });

  it('goes on at once with executions that can still share rows, and says how many do', async () => {
    const { registry } = createTelemetry('worker', 'silent');
    const { logger, records } = recordingLogger();
    const report: MaintenanceReport = { created: [], dropped: [], moved: 0, clockAheadMs: 0 };
    const reports: MaintenanceReport[] = [{ ...report, compacted: 256, compactsOn: true }, report];
    let runs = 0;
    const store = {
      maintain: () => Promise.resolve(reports[runs++] ?? report),
      measure: () => Promise.resolve({ daysAhead: 8, defaultRows: 0, running: 0, overdue: 0 }),
    };
    const metrics = maintenanceMetricsOf(maintenanceMetrics(registry));
    const maintenance = new Maintenance(store, { intervalMs: 3_600_000, retryMs: 1 }, metrics, logger);
    await maintenance.start();
    try {
      await until('two runs', () => runs === 2);
    } finally {
      await maintenance.stop();
    }
    expect(records).to.have.lengthOf(1);
    expect(records[0]).to.have.property('message', 'partitions maintained');
    expect(records[0]?.fields).to.have.property('compacted', 256);
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
