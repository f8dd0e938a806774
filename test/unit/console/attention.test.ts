import { expect } from 'chai';
import { attentionsOf } from '../../../internal/console/attention.ts';
import { behindOf } from '../../../internal/console/behind.ts';
import { automationViews, healthOf } from '../../../internal/console/health.ts';
import { findByName, namesOf } from '../../../internal/console/names.ts';
import { intervalOf, windowFor } from '../../../internal/console/rhythm.ts';
import type { Declaration } from '../../../internal/record/declaration.ts';
import type { Execution } from '../../../internal/record/execution.ts';
import type { Run } from '../../../internal/record/newest-runs.ts';

const noon = Date.parse('2026-11-20T12:00:00Z');
const hour = 3_600_000;

/** Runs an hour apart, the newest first: `f` failed, `s` succeeded, `r` running. */
function runsOf(states: string, apart = hour): Run[] {
  const words = { f: 'failed', s: 'succeeded', r: 'running' } as const;
  return Array.from(states, (letter, index) => ({
    execution_id: String(index),
    state: words[letter as keyof typeof words],
    first_event_at: new Date(noon - index * apart).toISOString(),
    duration_ms: letter === 'r' ? null : 1_000,
  }));
}

function declared(automation: string, more: Partial<Declaration> = {}): Declaration {
  return {
    automation,
    namespace: 'acme',
    name: automation,
    display_name: '',
    owner: '',
    tags: [],
    links: [],
    expect: null,
    alert_labels: {},
    suspend: false,
    declared_at: '',
    note: null,
    declared: true,
    evaluated_at: null,
    verdicts: [],
    ...more,
  };
}

describe('what needs attention', () => {
  const needed = (states: string, declaration?: Partial<Declaration>, overdue: Execution[] = []) => {
    const health = healthOf({ automation: 'a', runs: runsOf(states) });
    const views = automationViews(health, declaration === undefined ? [] : [declared('a', declaration)]);
    const { needed: found, allowed } = attentionsOf(views, overdue);
    return [found.map(({ kind, reason }) => `${kind}: ${reason}`).join(), allowed];
  };

  it('is a failure of the last run, whether anything is declared or not', () => {
    expect(needed('ffffs')).to.deep.equal(['failing: The last 4 runs have failed.', 0]);
    expect(needed('rfs', {})).to.deep.equal(['failing: The last run has failed.', 0]);
    expect(needed('sfff', {})).to.deep.equal(['', 0]);
  });

  it('is no failure that the owner allows, which is counted apart', () => {
    const expect3 = { expect: { failures: { consecutive: 3 } } };
    expect(needed('ffs', expect3)).to.deep.equal(['', 1]);
    expect(needed('ffs', { ...expect3, verdicts: null }), 'not judged yet').to.deep.equal([
      'failing: The last 2 runs have failed.',
      0,
    ]);
    expect(needed('ffs', { suspend: true, verdicts: null })).to.deep.equal(['', 1]);
  });

  it('is a verdict that was told, in its own words', () => {
    const verdict = {
      kind: 'missing',
      occurrence: '',
      reason: 'No run.',
      since: '2026',
      told: true,
      facts: {},
    } as const;
    expect(needed('s', { verdicts: [{ ...verdict, told: false }] as never })).to.deep.equal(['', 0]);
    expect(needed('s', { verdicts: [verdict] as never })).to.deep.equal(['missing: No run.', 0]);
  });

  it('is a run that is overdue', () => {
    const overdue = { automation: 'a', first_event_at: '2026-11-18T12:00:00.000Z' } as Execution;
    expect(needed('s', undefined, [overdue])).to.deep.equal(['overrunning: A run is overdue: it has no END yet.', 0]);
  });
});

describe('a record that is behind', () => {
  const known = { reason: null, gaps: [], now: new Date(noon).toISOString() };
  const ago = (seconds: number): string => new Date(noon - seconds * 1_000).toISOString();

  it('has a controller that no longer ticks, or a watermark that does not move', () => {
    expect(behindOf({ ...known, ticked_at: null, watermark: null })).to.equal(undefined);
    expect(behindOf({ ...known, ticked_at: ago(5), watermark: ago(15) })).to.equal(undefined);
    expect(behindOf({ ...known, ticked_at: ago(61), watermark: ago(75) })).to.deep.equal({
      since: ago(75),
      reason: 'No controller is at work: nothing is judged, and nobody is told.',
    });
    const stuck = { ...known, ticked_at: ago(5), watermark: ago(400) };
    expect(behindOf(stuck)?.reason).to.equal('The workers have not stored the newest events yet.');
    expect(behindOf({ ...stuck, reason: 'No ingest takes events.' })?.reason).to.equal('No ingest takes events.');
  });
});

describe('the window of an automation', () => {
  const windowOf = (states: string, apart: number) => windowFor(intervalOf(runsOf(states, apart), null, noon));

  it('follows the rhythm of its runs', () => {
    expect(windowOf('ssss', hour / 4)).to.equal('24h');
    expect(windowOf('ssss', 12 * hour)).to.equal('7d');
    expect(windowOf('ssss', 24 * hour)).to.equal('30d');
    expect(windowOf('ssss', 7 * 24 * hour)).to.equal('365d');
  });

  it('follows what is declared, before there are runs', () => {
    expect(windowFor(intervalOf([], { schedule: '30 2 * * *' }, noon))).to.equal('30d');
    expect(windowFor(intervalOf([], { every: '15m' }, noon))).to.equal('24h');
    expect(windowFor(intervalOf([], null, noon))).to.equal('24h');
  });
});

describe('names of automations', () => {
  const names = new Map([
    ['1', 'SAP upload'],
    ['2', 'SAP upload (test)'],
    ['3', 'Café'],
    ['4', 'CAFE\u0301'],
  ]);
  const found = (text: string): string =>
    findByName(names, text)
      .map(({ id }) => id)
      .join();

  it('are those that people declared, and that automations gave themselves', () => {
    const named = { ...declared('a', { display_name: 'etl/daily' }), declared: false };
    const rows = [declared('b'), declared('c', { display_name: 'C' }), named, { ...declared('d'), declared: false }];
    expect([...namesOf(rows)]).to.deep.equal([
      ['b', 'b'],
      ['c', 'C'],
      ['a', 'etl/daily'],
    ]);
  });

  it('are found whole, else by a part, whatever their letter case and Unicode form', () => {
    expect(found('sap  UPLOAD')).to.equal('1');
    expect(found('upload')).to.equal('1,2');
    expect(found('cafe\u0301')).to.equal('3,4');
    expect(found('none')).to.equal('');
  });
});
