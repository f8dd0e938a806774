import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { parse } from 'yaml';
import type { Differences } from '../../support/observability/alert-case.ts';
import { alertCases } from '../../support/observability/alert-cases.ts';
import { healthy, worldWith } from '../../support/observability/healthy-world.ts';
import { complaintOf, playScenarios, rulesFile, type Scenario } from '../../support/observability/promtool.ts';

interface Alert {
  alert: string;
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

  for (const [alert, alertCase] of Object.entries(alertCases)) {
    const { fires, firesAt = 60, with: others = [], alsoFires, nearly, nearlyWith = [], alsoNearly } = alertCase;
    it(`${alert} fires when it should, and only then`, async () => {
      const fired = [{ minute: firesAt, alerts: [alert, ...others].sort() }];
      const nearlyFired = moments.map((minute) => ({ minute, alerts: nearlyWith }));
      const complaint = await playScenarios([
        ...scenarios('fires', { plain: fires, ...alsoFires }, fired),
        ...scenarios('nearly fires', { plain: nearly, ...alsoNearly }, nearlyFired),
      ]);
      expect(complaint).to.equal('');
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
