import { chmod, copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { commandsOf } from '../support/document-blocks.ts';
import { automation, outcomeOf, runledger, type Outcome } from '../support/exec.ts';
import { token } from '../support/pipeline.ts';
import { suiteExec } from '../support/suite-exec.ts';

const examples = join(import.meta.dirname, '../../deploy/examples');
const text = (name: string): Promise<string> => readFile(join(examples, name), 'utf8');

interface Step {
  readonly run?: string;
  readonly if?: string;
  readonly env?: Record<string, string>;
}
interface Workflow {
  readonly env: Record<string, string>;
  readonly jobs: { readonly backup: { readonly steps: Step[] } };
}
interface CronJob {
  readonly spec: {
    readonly jobTemplate: { readonly spec: { readonly template: { readonly spec: { containers: [Container] } } } };
  };
}
interface Container {
  readonly args: string[];
  readonly env: { readonly name: string; readonly value?: string }[];
}

describe('examples of jobs that report themselves', () => {
  let folder: string;
  let env: NodeJS.ProcessEnv;

  const exec = suiteExec();
  const { suite } = exec;
  const address = (): string => `https://localhost:${suite.ingest.httpsPort}`;

  beforeEach(async () => {
    ({ folder } = exec);
    env = { ...exec.env, NODE_EXTRA_CA_CERTS: exec.files.settings.TLS_CERT_FILE, AUTOMATION: automation };
    await executable('backup', '#!/bin/sh\necho "Backing up"\n');
    await writeFile(join(folder, 'token'), token);
  });

  const executable = async (name: string, content: string): Promise<void> => {
    await writeFile(join(folder, name), content);
    await chmod(join(folder, name), 0o755);
  };

  /** An example of an administrator, on this machine: its address, token, job and programs. */
  const onThisMachine = (example: string): string =>
    example
      .replaceAll('https://runledger.example.com', address())
      .replaceAll(/\/etc\/runledger\/token|%d\/token|\/token\/token-1/g, join(folder, 'token'))
      .replaceAll('/usr/local/bin/backup', join(folder, 'backup'))
      .replaceAll(/^PATH=.*$/gm, `PATH=${String(env['PATH'])}:${dirname(runledger()[0] ?? '')}`);

  /** The environment without what the example itself sets. */
  const withoutSettings = (): NodeJS.ProcessEnv => {
    const { RUNLEDGER_URL: _, RUNLEDGER_TOKEN: __, AUTOMATION: ___, ...rest } = env;
    return { ...rest, PATH: `${String(env['PATH'])}:${dirname(runledger()[0] ?? '')}` };
  };

  /** The kinds of the events of the only execution, in the order of acceptance. */
  const kinds = async (): Promise<string> => {
    const stored = await suite.stored();
    expect(new Set(stored.map(({ executionId }) => executionId))).to.have.property('size', 1);
    for (const { automationId } of stored) expect(automationId).to.equal(automation);
    return stored.map(({ kind }) => kind).join(' ');
  };

  const backedUp: Outcome = { code: 0, signal: null, stdout: 'Backing up\n', stderr: '' };

  for (const [name, failing] of [
    ['trap.sh', (code: string) => code.replace('echo "Backing up"', 'exit 3')],
    ['job.py', (code: string) => code.replace('print("Backing up")', 'raise SystemExit(3)')],
    ['job.mjs', (code: string) => code.replace("console.log('Backing up');", "throw new Error('no room');")],
  ] as const) {
    it(`${name} reports a run that succeeds`, async () => {
      expect(await outcomeOf([join(examples, name)], env)).to.deep.equal(backedUp);
      expect(await kinds()).to.equal('START END');
    });

    it(`${name} reports a run that fails, and fails`, async () => {
      await executable(name, failing(await text(name)));
      expect((await outcomeOf([join(folder, name)], env)).code).to.be.greaterThan(0);
      expect(await kinds()).to.equal('START ERROR END');
    });
  }

  for (const [signal, code] of [
    ['HUP', 129],
    ['INT', 130],
    ['TERM', 143],
  ] as const) {
    it(`trap.sh reports a run that SIG${signal} ends, and exits as a shell does`, async () => {
      await executable(
        'trap.sh',
        (await text('trap.sh')).replace('echo "Backing up"', () => `kill -${signal} $$`),
      );
      expect(await outcomeOf([join(folder, 'trap.sh')], env)).to.include({ code, signal: null });
      expect(await kinds()).to.equal('START ERROR END');
      expect((await suite.stored())[1]).to.include({ errorId: String(code) });
    });
  }

  for (const end of ['sys.exit()', 'sys.exit(0)']) {
    it(`job.py reports a run that succeeds with ${end}`, async () => {
      await executable('job.py', (await text('job.py')).replace('print("Backing up")', end));
      expect(await outcomeOf([join(folder, 'job.py')], env)).to.include({ code: 0, stderr: '' });
      expect(await kinds()).to.equal('START END');
    });
  }

  for (const name of ['job.py', 'job.mjs']) {
    it(`${name} does its work while Runledger does not answer, and says so`, async () => {
      const found = await outcomeOf([join(examples, name)], { ...env, RUNLEDGER_URL: 'https://127.0.0.1:1' });
      expect(found).to.include({ code: 0, stdout: 'Backing up\n' });
      expect(found.stderr).to.match(/not reported: START: .*\n(.*\n)*not reported: END: /);
    });
  }

  it('docs/report/runledger-command.md: its commands in order report a run with events', async () => {
    await chmod(join(folder, 'token'), 0o600);
    const [configure = '', exec = '', inside = '', flush = ''] = commandsOf(
      'docs/report/runledger-command.md',
      'command',
    );
    await executable('backup', `#!/bin/sh -e\n${inside}`);
    const script = onThisMachine([configure, exec, flush].join('\n'));
    const found = await outcomeOf(['bash', '-ec', script], withoutSettings());
    expect(found.code, `${found.stdout}${found.stderr}`).to.equal(0);
    expect(await kinds()).to.equal('START WARNING ERROR END');
  });

  it('curl.sh reports single events, and fails if it cannot', async () => {
    const report = (...args: string[]): Promise<Outcome> =>
      outcomeOf([join(examples, 'curl.sh'), ...args], { ...env, EXECUTION: 'run-1' });
    for (const args of [['START'], ['ERROR', '3'], ['END'], ['END']])
      expect(await report(...args)).to.include({ code: 0 });
    expect(await kinds()).to.equal('START ERROR END');
    expect((await suite.stored())[1]).to.include({ executionId: 'run-1', errorId: '3' });
    expect((await report('FINISH')).code).to.be.greaterThan(0);
  });

  it('crontab: a shell runs its command with its variables', async () => {
    const lines = onThisMachine(await text('crontab')).split('\n');
    const variables = lines.filter((line) => /^[A-Z_]+=/.test(line)).map((line) => line.split(/=(.*)/s).slice(0, 2));
    const command = lines.find((line) => /^\d/.test(line))?.replace(/^(\S+ ){5}/, '') ?? '';
    const own = Object.fromEntries(variables) as NodeJS.ProcessEnv;
    expect(await outcomeOf(['/bin/sh', '-c', command], { ...withoutSettings(), ...own })).to.deep.equal(backedUp);
    expect(await kinds()).to.equal('START END');
  });

  it('backup.service: its command runs with its variables', async () => {
    const unit = onThisMachine(await text('backup.service'));
    const own = Object.fromEntries(
      [...unit.matchAll(/^Environment=(\w+)=(.*)$/gm)].map(([, name, value]) => [name, value]),
    );
    const command = /^ExecStart=(.*)$/m.exec(unit)?.[1]?.split(' ') ?? [];
    expect(await outcomeOf(command, { ...withoutSettings(), ...own })).to.deep.equal(backedUp);
    expect(await kinds()).to.equal('START END');
  });

  it('github-actions.yaml: the scripts of its steps report a run that succeeds, and one that fails', async () => {
    await mkdir(join(folder, '.github'));
    await copyFile(join(examples, 'curl.sh'), join(folder, '.github/curl.sh'));
    const workflow = parse(onThisMachine(await text('github-actions.yaml'))) as Workflow;
    const { backup } = workflow.jobs;
    const known: Record<string, string> = {
      'secrets.RUNLEDGER_TOKEN': token,
      'github.run_id': '42',
      'github.run_attempt': '1',
      'job.status': 'failure',
    };
    const resolved = (given: Record<string, string> = {}): Record<string, string> =>
      Object.fromEntries(
        Object.entries(given).map(([name, value]) => [
          name,
          value.replaceAll(/\$\{\{ ([\w.]+) \}\}/g, (_, expression: string) => known[expression] ?? 'unknown'),
        ]),
      );
    for (const hasFailed of [false, true]) {
      await suite.redis.command('flushall');
      for (const step of backup.steps.filter((one) => one.run !== undefined)) {
        if (!hasFailed && step.if?.startsWith('failure()')) continue;
        // As a runner starts it.
        const shell = ['bash', '--noprofile', '--norc', '-eo', 'pipefail', '-c', step.run ?? ''];
        const own = { ...resolved(workflow.env), ...resolved(step.env) };
        expect((await outcomeOf(shell, { ...withoutSettings(), ...own }, { cwd: folder })).code).to.equal(0);
      }
      expect(await kinds()).to.equal(hasFailed ? 'START ERROR END' : 'START END');
      expect((await suite.stored())[0]).to.include({ executionId: '42-1' });
    }
  });

  it('cronjob.yaml: its arguments and variables report a run', async () => {
    const { spec } = parse(onThisMachine(await text('cronjob.yaml'))) as CronJob;
    const [{ args, env: given }] = spec.jobTemplate.spec.template.spec.containers;
    const own = Object.fromEntries(given.map(({ name, value = 'backup-1' }) => [name, value]));
    const resolved = args.map((argument) => argument.replace('$(POD)', own['POD'] ?? ''));
    const settings = { ...withoutSettings(), ...own, RUNLEDGER_SPOOL: join(folder, 'spool') };
    expect(await outcomeOf(runledger('exec', ...resolved), settings)).to.deep.equal(backedUp);
    expect(await kinds()).to.equal('START END');
    expect((await suite.stored())[0]).to.include({ executionId: 'backup-1' });
  });
});
