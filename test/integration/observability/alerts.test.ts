import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { parse } from 'yaml';
import type { Differences } from '../../support/observability/alert-case.ts';
import { alertCases } from '../../support/observability/alert-cases.ts';
import { healthy, worldWith } from '../../support/observability/healthy-world.ts';
import {
  complaintOf,
  playScenarios,
  playTogether,
  rulesFile,
  type Scenario,
} from '../../support/observability/promtool.ts';

interface Alert {
  alert: string;
  expr: string;
  labels: { severity: string };
  annotations: { summary: string; description: string; runbook_url: string };
}

const root = new URL('../../../', import.meta.url);
const document = parse(await readFile(rulesFile, 'utf8')) as { groups: { rules: Partial<Alert>[] }[] };
const alerts = document.groups.flatMap(({ rules }) => rules).filter((rule): rule is Alert => rule.alert !== undefined);

/** When a world is looked at, in minutes. */
const moments = [40, 80, 120];

function scenarios(name: string, worlds: Record<string, Differences>, firing: Scenario['firing']): Scenario[] {
  return Object.entries(worlds).map(([about, differs]) => {
    return { name: `${name}: ${about}`, world: worldWith(differs), firing };
  });
}

describe('alerts', () => {
  it('are rules that promtool has nothing to say against', async () => {
    expect(await complaintOf('check', 'rules', '--lint-fatal', rulesFile)).to.equal('');
  });

  it('stay silent while all is well', async () => {
    const firing = moments.map((minute) => ({ minute, alerts: [] }));
    expect(await playScenarios([{ name: 'healthy', world: healthy, firing }])).to.equal('');
  });

  it('each have a case', () => {
    expect(Object.keys(alertCases).sort()).to.deep.equal(alerts.map(({ alert }) => alert).sort());
  });

  const cases = new Map(
    Object.entries(alertCases).map(([alert, alertCase]) => {
      const { fires, firesAt = 60, with: others = [], alsoFires, nearly, nearlyWith = [], alsoNearly } = alertCase;
      const fired = [{ minute: firesAt, alerts: [alert, ...others].sort() }];
      const nearlyFired = moments.map((minute) => ({ minute, alerts: nearlyWith }));
      return [
        alert,
        [
          ...scenarios('fires', { plain: fires, ...alsoFires }, fired),
          ...scenarios('nearly fires', { plain: nearly, ...alsoNearly }, nearlyFired),
        ],
      ] as const;
    }),
  );
  /** An alert on what no installation shows needs a world for each. */
  const needsOwnWorld = (name: string): boolean =>
    alerts.some(({ alert, expr }) => alert === name && expr.includes('absent_over_time('));
  let complaintIn: (scenario: Scenario) => string;
  before(async function () {
    this.timeout(120_000);
    const beside = Array.from(cases).filter(([alert]) => !needsOwnWorld(alert));
    complaintIn = await playTogether(beside.flatMap(([, worlds]) => worlds));
  });

  for (const [alert, worlds] of cases) {
    it(`${alert} fires when it should, and only then`, async () => {
      if (needsOwnWorld(alert)) expect(await playScenarios(worlds)).to.equal('');
      else for (const world of worlds) expect(complaintIn(world), world.name).to.equal('');
    });
  }

  for (const { alert, labels, annotations } of alerts) {
    it(`${alert} says how urgent it is and has a runbook`, async () => {
      expect(['critical', 'warning']).to.include(labels.severity);
      const path = `docs/operate/runbooks/${alert}.md`;
      expect(annotations.runbook_url).to.equal(`https://github.com/runledger/runledger/blob/main/${path}`);
      const runbook = await readFile(new URL(path, root), 'utf8');
      expect(runbook.split('\n').filter((line) => line.startsWith('#'))).to.deep.equal([
        `# ${alert}`,
        '## Meaning',
        '## Diagnosis',
        '## Mitigation',
      ]);
    });
  }
});
