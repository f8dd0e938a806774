import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The rules that are shipped. */
export const rulesFile = new URL('../../../deploy/prometheus/alerts.rules.yaml', import.meta.url).pathname;

/** Series by name and labels, with values in promtool's notation, one a minute. */
export type World = Record<string, string>;

/** One world, and the alerts that fire in it at some moments (minutes from its beginning). */
export interface Scenario {
  name: string;
  world: World;
  firing: { minute: number; alerts: string[] }[];
  /** What queries give an hour after its beginning: values by labels. */
  answers?: { expr: string; values: Record<string, number> }[];
}

/** What promtool complains of when it plays the scenarios; empty when all is as expected. */
export function playScenarios(scenarios: readonly Scenario[]): Promise<string> {
  return playTests(scenarios.map(toTest));
}

async function playTests(tests: object[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'runledger-rules-'));
  try {
    // JSON is YAML, and is written faster. Evaluations every other minute take half of the time.
    const file = join(folder, 'scenarios.json');
    const document = { rule_files: [rulesFile], evaluation_interval: '2m', tests };
    await writeFile(file, JSON.stringify(document));
    return await complaintOf('test', 'rules', file);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/**
 * What promtool complains of in each scenario; empty where all is as expected. All are
 * installations beside each other, each in its own namespace, which takes a tenth of the time.
 */
export async function playTogether(scenarios: readonly Scenario[]): Promise<(scenario: Scenario) => string> {
  const namespaces = new Map(scenarios.map((scenario, index) => [scenario, `w${index}`]));
  const all = Array.from(namespaces, ([{ world, firing }, namespace]) => ({
    series: Object.entries(world).map(([series, values]) => ({
      series: series.replace('namespace="rl"', `namespace="${namespace}"`),
      values,
    })),
    expected: expectations(firing, `,namespace="${namespace}"`),
  }));
  const complaint = await playTests([
    {
      interval: '1m',
      input_series: all.flatMap(({ series }) => series),
      promql_expr_test: all.flatMap(({ expected }) => expected),
    },
  ]);
  const [head = '', ...findings] = complaint.split(/(?=expr: ")/);
  const of = Map.groupBy(findings, (finding) => /namespace=\\?"(w\d+)/.exec(finding)?.[1] ?? '');
  const unassigned = findings.length === 0 ? head : (of.get('')?.join('') ?? '');
  return (scenario) => unassigned + (of.get(namespaces.get(scenario) ?? '')?.join('') ?? '');
}

/** For Go: one thread, and fewer garbage collections, take a quarter less CPU time. */
const frugal = { GOMAXPROCS: '1', GOGC: '400' };

/** What promtool says when it fails; empty when it succeeds. */
export async function complaintOf(...args: string[]): Promise<string> {
  try {
    await run('promtool', args, { env: { ...process.env, ...frugal }, maxBuffer: 64 * 1024 * 1024 });
    return '';
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    return [String(error).split('\n')[0], stdout, stderr].join('\n');
  }
}

function toTest({ name, world, firing, answers = [] }: Scenario): object {
  return {
    name,
    interval: '1m',
    input_series: Object.entries(world).map(([series, values]) => ({ series, values })),
    promql_expr_test: [
      ...expectations(firing),
      ...answers.map(({ expr, values }) => ({
        expr,
        eval_time: '60m',
        exp_samples: Object.entries(values).map(([labels, value]) => ({ labels, value })),
      })),
    ],
  };
}

/** `more`: further matchers of the alerts. */
function expectations(firing: Scenario['firing'], more = ''): object[] {
  return firing.map(({ minute, alerts }) => ({
    expr: `count by (alertname) (ALERTS{alertstate="firing"${more}})`,
    eval_time: `${minute}m`,
    exp_samples: alerts.map((alertname) => ({ labels: `{alertname="${alertname}"}`, value: 1 })),
  }));
}
