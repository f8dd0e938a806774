import { execFileSync } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { binary } from '../../support/postgres-server.ts';
import { met, type Finding } from './figures.ts';
import { scenarios } from '../scenarios/all.ts';
import type { Options } from './options.ts';
import { plot } from './plot.ts';
import { root } from './program.ts';
import { markdownTable } from './table.ts';

/** What was found of a scenario, when, and by how much measuring. */
export interface Result extends Finding {
  measuredAt: string;
  tookSeconds: number;
  options: Options;
  machine: string;
}

export type Results = Record<string, Result>;

const readme = join(root, 'test/bench/README.md');

/**
 * Adds a finding to the results, and draws the table and the plot again. What was
 * tried out quickly is no result: it goes to `.cache/bench`, and the README stays.
 */
export async function keepResults(name: string, finding: Finding, options: Options, seconds: number): Promise<void> {
  const folder = join(root, options.quick ? '.cache/bench' : 'test/bench/results');
  await mkdir(folder, { recursive: true });
  const file = join(folder, 'bench.json');
  const results = JSON.parse(await readFile(file, 'utf8').catch(() => '{}')) as Results;
  const figures = finding.figures.map((figure) => ({
    ...figure,
    value: Number(figure.value.toPrecision(5)),
    ...(figure.bar && { met: met(figure) }),
  }));
  const machine = await describeMachine();
  results[name] = { measuredAt: new Date().toISOString(), tookSeconds: seconds, machine, options, ...finding, figures };
  const inOrder = Object.fromEntries(
    Object.keys(scenarios).flatMap((each) => (results[each] ? [[each, results[each]]] : [])),
  );
  await writeFormatted(file, JSON.stringify(inOrder));
  await writeFile(join(folder, 'bench.svg'), plot(inOrder));
  if (!options.quick) await writeTable(inOrder);
}

async function writeTable(results: Results): Promise<void> {
  const document = await readFile(readme, 'utf8');
  const [begin, end] = ['<!-- results: made by `make bench` -->', '<!-- end of results -->'];
  const [from, to] = [document.indexOf(begin), document.indexOf(end)];
  if (from === -1 || to === -1) throw new Error(`${readme} has no part for the results`);
  const machines = [...new Set(Object.values(results).map(({ machine }) => machine))].join(';\n');
  const content = `${machines}.\n\n${markdownTable(results)}`;
  await writeFormatted(readme, `${document.slice(0, from + begin.length)}\n\n${content}\n\n${document.slice(to)}`);
}

async function writeFormatted(file: string, text: string): Promise<void> {
  await writeFile(file, await format(text, { ...(await resolveConfig(file)), filepath: file }));
}

async function describeMachine(): Promise<string> {
  const version = (program: string): string =>
    /\d+(\.\d+)+/.exec(execFileSync(program, ['--version'], { encoding: 'utf8' }))?.[0] ?? 'unknown';
  const processors = cpus();
  const servers = `Redis ${version('redis-server')}, Postgres ${version(await binary('postgres'))}`;
  return `${processors.length} × ${processors[0]?.model.trim()}, Node ${process.versions.node}, ${servers}`;
}
