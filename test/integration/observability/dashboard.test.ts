import { expect } from 'chai';
import { queriesOf } from '../../support/observability/grafana.ts';
import { growing, late, late3, ofWorker, steady, transitions } from '../../support/observability/healthy-world.ts';
import { playScenarios, type World } from '../../support/observability/promtool.ts';

/** Sees that the queries of a panel give these values, by labels, in a world. */
async function expectPanel(title: string, world: World, values: Record<string, number>[]): Promise<void> {
  const queries = queriesOf(title, '5m');
  expect(queries).to.have.length(values.length);
  const answers = queries.map((expr, index) => ({ expr, values: values[index] ?? {} }));
  expect(await playScenarios([{ name: title, world, firing: [], answers }])).to.equal('');
}

describe('the dashboard', () => {
  it('shows what is late, whether Prometheus stores le="30" or le="30.0"', async () => {
    const all = { [ofWorker('event_lag_seconds_count')]: growing(600) };
    for (const bucket of [late, late3]) {
      await expectPanel('Later than 30 s', { ...all, [bucket]: growing(300) }, [{ '{}': 0.5 }]);
    }
  });

  it('shows the watermark of the database that is furthest behind', async () => {
    const lag = (pod: string, database: string): string =>
      `runledger_watermark_lag_seconds{namespace="rl",pod="${pod}",database="${database}"}`;
    const world = {
      [lag('k1', 'first')]: steady(15),
      [lag('k1', 'eu')]: steady(300),
      [lag('k2', 'first')]: steady(14),
      // The controller that made the last tick knows a newer one.
      [lag('k2', 'eu')]: steady(200),
    };
    await expectPanel('Age of the watermark', world, [{ '{}': 200 }]);
  });

  it('shows no success that a later ERROR has undone', async () => {
    const world = {
      // Of 180 a minute that ended well, two in three had their ERROR stored after their END.
      [transitions('none', 'succeeded')]: growing(120),
      [transitions('running', 'succeeded')]: growing(60),
      [transitions('succeeded', 'failed')]: growing(120),
      [transitions('running', 'failed')]: growing(60),
      // Never a late ERROR; and nothing but late ones, of executions that ended before.
      [transitions('running', 'succeeded', 'umbrella')]: growing(60),
      [transitions('running', 'succeeded', 'initech')]: steady(500),
      [transitions('succeeded', 'failed', 'initech')]: growing(60),
    };
    await expectPanel('Executions ended, by organization and state', world, [
      { '{organization="acme"}': 1, '{organization="umbrella"}': 1, '{organization="initech"}': 0 },
      { '{organization="acme"}': 3, '{organization="initech"}': 1 },
    ]);
  });
});
