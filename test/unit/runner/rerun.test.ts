import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { Child } from '../../support/child.ts';

const root = new URL('../../..', import.meta.url).pathname;
const runner = join(root, 'test/support/runner/run-tier.ts');

/** Bodies of tests. Each first run of a file leaves a mark beside it. */
const bodies = {
  passes: '',
  fails: "throw new Error('always');",
  flaky: "if (first) throw new Error('the first time only');",
  'dies once': 'if (first) process.kill(process.pid, "SIGKILL");',
  dies: 'process.exit(3);',
  'never ends once': 'if (first) for (;;);',
} as const;

type Body = keyof typeof bodies;

/** A file of tests: the body is that of one between two that pass, or of a hook before the last. */
function fileOf(body: Body, where: 'it' | 'before' = 'it'): string {
  return [
    "import { appendFileSync, existsSync } from 'node:fs';",
    'const mark = `${import.meta.filename}.ran`;',
    'const first = !existsSync(mark);',
    "appendFileSync(mark, 'x');",
    "describe('a file', () => {",
    "  it('passes', () => undefined);",
    `  describe('inside', () => { ${where}('x', () => { ${bodies[body]} }); it('passes too', () => undefined); });`,
    '});',
  ].join('\n');
}

/** Test files in a folder of their own, run by the runner of all tiers. */
class Tier {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async create(files: Record<string, string>): Promise<Tier> {
    const folder = await mkdtemp(join(tmpdir(), 'runledger-tier-'));
    const all = { 'mocharc.json': '{ "timeout": 10000, "slow": 5000 }', ...files };
    for (const [name, content] of Object.entries(all)) {
      await mkdir(dirname(join(folder, name)), { recursive: true });
      await writeFile(join(folder, name), content);
    }
    return new Tier(folder);
  }

  /** The lines that sum up the run, and its exit status. */
  async run(...lanes: string[]): Promise<{ code: number | null; summary: string[]; output: string }> {
    return outcomeOf(new Child(process.execPath, [runner, '--config', 'mocharc.json', ...lanes], { cwd: this.folder }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.folder, { recursive: true });
  }
}

async function outcomeOf(child: Child): ReturnType<Tier['run']> {
  const code = await child.exited;
  const summary = child.output.filter((line) => /^ {2}(\d+ (passing|pending|failing)$|flaky:)/.test(line));
  return { code, summary: summary.map((line) => line.trim()), output: child.output.join('\n') };
}

describe('the runner of all tiers', () => {
  it('counts a file that fails once and then passes alone as passed, and names it', async () => {
    await using tier = await Tier.create({ 'a.mjs': fileOf('flaky'), 'b.mjs': fileOf('passes') });
    const { code, summary, output } = await tier.run('*.mjs');
    expect(summary, output).to.deep.equal(['6 passing', 'flaky: a.mjs']);
    expect(code).to.equal(0);
    expect(output).to.match(/the first time only[^]*b\.mjs[^]*Once more, alone: a\.mjs/);
  });

  it('draws with the same seed again', async () => {
    const draws = 'console.log(`drawn with ${process.env.SEED}`);';
    await using tier = await Tier.create({ 'a.mjs': `${fileOf('flaky')}\n${draws}` });
    const { output } = await tier.run('*.mjs');
    const [first, again] = [...output.matchAll(/drawn with (\d+)/g)].map(([, seed]) => seed);
    expect(first, output).to.match(/\d/).and.equal(again);
  });

  it('fails for a file that fails again, and counts its tests once', async () => {
    await using tier = await Tier.create({ 'a.mjs': fileOf('fails'), 'b.mjs': fileOf('passes') });
    const { code, summary, output } = await tier.run('*.mjs');
    expect(summary, output).to.deep.equal(['5 passing', '1 failing']);
    expect(code).to.equal(1);
  });

  it('runs a file again whose process died, or whose first hook failed, and what was left of its lane', async () => {
    await using tier = await Tier.create({
      'a.mjs': fileOf('dies once'),
      'b.mjs': fileOf('flaky', 'before'),
      'c.mjs': fileOf('passes'),
    });
    const { code, summary, output } = await tier.run('a.mjs b.mjs', '*.mjs');
    expect(summary, output).to.deep.equal(['8 passing', 'flaky: a.mjs', 'flaky: b.mjs']);
    expect(code).to.equal(0);
  });

  it('fails for a file whose process dies each time, or that cannot be read', async () => {
    await using tier = await Tier.create({
      'a.mjs': fileOf('dies'),
      'b.mjs': "import 'nothing-there';",
      'c.mjs': fileOf('passes'),
    });
    const { code, summary, output } = await tier.run('*.mjs', '*.mjs');
    expect(summary, output).to.deep.equal(['3 passing', '2 failing']);
    expect(code).to.equal(1);
  });

  it('kills a process that stands still', async () => {
    await using tier = await Tier.create({ 'a.mjs': fileOf('never ends once'), 'b.mjs': fileOf('passes') });
    const { code, summary, output } = await tier.run('--silence', '5', '*.mjs');
    expect(summary, output).to.deep.equal(['6 passing', 'flaky: a.mjs']);
    expect(output).to.include('A process of tests died: SIGKILL, in a.mjs');
    expect(code).to.equal(0);
  });

  it('fails when no process can begin', async () => {
    const setUp = 'export const mochaGlobalSetup = async () => { throw new Error("no server"); };';
    await using tier = await Tier.create({
      'a.mjs': fileOf('passes'),
      'server.js': setUp,
      'mocharc.json': '{ "require": ["server.js"], "timeout": 10000, "slow": 5000 }',
    });
    const { code, output } = await tier.run('a.mjs');
    expect(output).to.include('no server');
    expect(code).to.equal(1);
  });
});

describe('.ci/run', () => {
  const tiers = ['test', 'test-command', 'test-clients', 'test-cluster', 'test-node', 'test-fault'];

  /** The script in a project of its own, whose tiers run one file each. */
  async function run(kinds: readonly Body[]): ReturnType<Tier['run']> {
    const rule = (tier: string): string =>
      `${tier}:\n\t@${process.execPath} ${runner} --config mocharc.json "${tier}/*.mjs"\n`;
    const files = kinds.map((body, index) => [`${tiers[index % tiers.length]}/${index}.mjs`, fileOf(body)] as const);
    const makefile = `.PHONY: ${tiers.join(' ')}\nnode_modules/.package-lock.json:\n${tiers.map(rule).join('')}`;
    await using tier = await Tier.create({ Makefile: makefile, '.ci/none': '', ...Object.fromEntries(files) });
    await copyFile(join(root, '.ci/run'), join(tier.folder, '.ci/run'));
    return await outcomeOf(new Child('bash', ['.ci/run'], { cwd: tier.folder }));
  }
  const lastLine = (output: string): string => output.split('\n').at(-1) ?? '';

  it('lists up to three flaky files of all tiers, and passes', async () => {
    const { code, output } = await run(['flaky', 'flaky', 'passes', 'passes', 'passes', 'dies once']);
    expect(output).to.match(/once more, alone:\ntest\/0\.mjs\ntest-command\/1\.mjs\ntest-fault\/5\.mjs\n18 passed/);
    expect(lastLine(output)).to.equal('18 passed, 0 failed, 0 skipped');
    expect(code).to.equal(0);
  }).timeout(120_000);

  it('fails for four flaky files, although each passed in the end', async () => {
    const { code, output } = await run(['flaky', 'flaky', 'flaky', 'flaky', 'passes', 'passes']);
    expect(lastLine(output)).to.equal('18 passed, 1 failed, 0 skipped');
    expect(code).to.equal(1);
  }).timeout(120_000);

  it('fails for a file that fails twice', async () => {
    const { code, output } = await run(['passes', 'fails', 'passes', 'passes', 'passes', 'passes']);
    expect(lastLine(output)).to.equal('17 passed, 1 failed, 0 skipped');
    expect(code).to.equal(1);
  }).timeout(120_000);
});
