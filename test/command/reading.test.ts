import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { CertificateFiles, createKeyPair } from '../support/certificate.ts';
import { readToken, startConsole, type RunningConsole } from '../support/console.ts';
import { commandsOf } from '../support/document-blocks.ts';
import { automation, environmentWith, outcomeOf, runledger, type Outcome } from '../support/exec.ts';
import { freePort } from '../support/free-port.ts';
import { declare } from '../support/notify/expectations.ts';
import { storeEvents } from '../support/reading.ts';
import { migratedDatabase, type TestDatabase } from '../support/store.ts';

describe('runledger events, executions and tail', () => {
  let files: CertificateFiles;
  let database: TestDatabase;
  let console: RunningConsole;
  let env: NodeJS.ProcessEnv;

  before(async () => {
    files = await CertificateFiles.create(await createKeyPair('console.example'));
    database = await migratedDatabase();
    const port = await freePort();
    console = await startConsole(database.url, { HTTPS_PORT: String(port), ...files.settings });
    env = environmentWith({
      RUNLEDGER_CONSOLE_URL: `https://localhost:${port}`,
      RUNLEDGER_READ_TOKEN: readToken(),
      RUNLEDGER_CA_FILE: files.settings.TLS_CERT_FILE,
    });
    await storeEvents(
      database.db,
      { automationId: automation, executionId: 'run 1', kind: 'START' },
      {
        automationId: automation,
        executionId: 'run 1',
        kind: 'ERROR',
        errorId: 'SMTP-421',
        errorDescription: 'line 1\nline \u001b[2J2',
      },
    );
  });
  after(async () => {
    await console.stop();
    await database[Symbol.asyncDispose]();
    await files[Symbol.asyncDispose]();
  });

  const run = (args: string[], settings: NodeJS.ProcessEnv = {}): Promise<Outcome> => {
    return outcomeOf(runledger(...args), { ...env, ...settings });
  };

  it('lists executions and events, as text', async () => {
    const executions = await run(['executions', '--execution', 'run 1']);
    expect(executions).to.include({ code: 0, stderr: '' });
    expect(executions.stdout).to.match(/^2026-11-20T12:00:00\.000Z {2}failed .* run 1\n$/);
    const events = await run(['events', '--kind', 'ERROR']);
    expect(events.stdout).to.match(/ERROR .* run 1 {2}SMTP-421.*\n {4}line 1\n {4}line 2\n$/);
  });

  it('answers the commands of docs/read/api.md', async () => {
    const { RUNLEDGER_CONSOLE_URL: address = '', RUNLEDGER_READ_TOKEN: _, PATH, ...rest } = env;
    const HOME = await mkdtemp(join(tmpdir(), 'runledger-reading-'));
    await writeFile(join(HOME, 'read-token'), readToken(), { mode: 0o600 });
    const automationId = randomUUID();
    await declare(database.db, { automationId, name: 'invoices', displayName: 'Nightly invoices' });
    await storeEvents(database.db, { automationId, executionId: 'tonight', kind: 'ERROR', createdAt: Date.now() });
    const script = commandsOf('docs/read/api.md', 'command').join('\n');
    const own = { ...rest, HOME, PATH: `${dirname(runledger()[0] ?? '')}:${PATH}` };
    const found = await outcomeOf(['bash', '-ec', script.replace('https://record.example.com', address)], own);
    expect(found).to.include({ code: 0, stderr: '' });
    expect(found.stdout).to.match(/ failed .* tonight\b.*\n[^]* ERROR .* tonight\b/);
    await rm(HOME, { recursive: true });
  });

  it('lists JSON, one line for each, page after page', async () => {
    const automationId = randomUUID();
    const many = Array.from({ length: 120 }, (_, index) => ({ automationId, executionId: `more ${index}` }));
    await storeEvents(database.db, ...many);
    const { stdout } = await run(['events', '--json', '--limit', '110', '--automation', automationId]);
    const items = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { execution_id: string });
    expect(new Set(items.map(({ execution_id }) => execution_id))).to.have.lengthOf(110);
  });

  it('takes names of automations and prints them; dates are of the local time zone', async () => {
    const automationId = randomUUID();
    await declare(database.db, { automationId, name: 'sap-upload', displayName: 'SAP upload' });
    const late = Date.parse('2026-11-19T23:30:00Z');
    await storeEvents(
      database.db,
      { automationId, executionId: 'late', kind: 'START', createdAt: late },
      { automationId, executionId: 'new', kind: 'START', createdAt: Date.now() },
    );
    const list = async (zone: string, ...args: string[]): Promise<string[]> => {
      const { stdout, stderr } = await run(['executions', '--automation', 'sap UPLOAD', ...args], { TZ: zone });
      expect(stderr).to.equal('');
      for (const line of stdout.trimEnd().split('\n').filter(Boolean)) expect(line).to.include('  SAP upload  ');
      return Array.from(stdout.matchAll(/ (\w+)$/gm), ([, id]) => String(id));
    };
    expect(await list('UTC')).to.deep.equal(['new', 'late']);
    expect(await list('UTC', '--since', '5m')).to.deep.equal(['new']);
    expect(await list('UTC', '--from', '2026-11-19', '--to', '2026-11-20')).to.deep.equal(['late']);
    expect(await list('Europe/Madrid', '--from', '2026-11-19', '--to', '2026-11-20')).to.deep.equal([]);
    expect(await list('Europe/Madrid', '--from', '2026-11-20', '--to', '2026-11-21')).to.deep.equal(['late']);
    const events = await run(['events', '--automation', 'SAP upload', '--since', '5m']);
    expect(events.stdout).to.match(/^\S+ {2}START {4}SAP upload {2}new\n$/);
  });

  it('has colours on a terminal and with FORCE_COLOR, and not with NO_COLOR', async () => {
    const list = ['executions', '--execution', 'run 1'];
    const inTerminal = async (settings: NodeJS.ProcessEnv): Promise<string> => {
      const command = runledger(...list).map((word) => `'${word}'`);
      const settled = { ...env, TERM: 'xterm', ...settings };
      return (await outcomeOf(['script', '-qfec', command.join(' '), '/dev/null'], settled)).stdout;
    };
    const red = '\u001b[31mfailed';
    expect(await inTerminal({})).to.include(red);
    expect(await inTerminal({ NO_COLOR: '1' }))
      .to.include('failed')
      .and.not.include('\u001b');
    expect((await run(list, { FORCE_COLOR: '1' })).stdout).to.include(red);
  });

  it('ends as other programs do when nobody reads on', async () => {
    const script = '{ "$@"; echo $? >&2; } | true';
    const { stderr } = await outcomeOf(['sh', '-c', script, 'sh', ...runledger('events')], env);
    expect(stderr).to.equal('141\n');
  });

  it('prints events as they are stored', async () => {
    await declare(database.db, { automationId: automation, name: 'tailed', displayName: '' });
    const [program = '', ...args] = runledger('tail', '--json', '--kind', 'END', '--automation', 'tailed');
    const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
    const lines = createInterface({ input: child.stdout });
    const first = once(lines, 'line') as Promise<[string]>;
    // Stored again and again: nothing says when the stream is open.
    const isThere = (): Promise<boolean> => Promise.race([first.then(() => true), sleep(200, false)]);
    for (let index = 0; !(await isThere()); index += 1) {
      const event = { automationId: automation, executionId: `later ${index}`, kind: 'END' as const };
      await storeEvents(database.db, { ...event, createdAt: Date.now() });
    }
    expect(JSON.parse((await first)[0])).to.include({ type_of_event: 'END', automation, automation_name: 'tailed' });
    child.kill('SIGINT');
    expect(await once(child, 'exit')).to.deep.equal([null, 'SIGINT']);
  });

  const away = { RUNLEDGER_CONSOLE_URL: 'https://127.0.0.1:1' };
  const wrong: Record<string, [string, NodeJS.ProcessEnv, number, string]> = {
    'no command': ['', {}, 2, 'the command is missing; see: runledger help'],
    'an unknown command': ['list', {}, 2, 'unknown command "list"; see: runledger help'],
    'an unknown option': ['events --colour', {}, 2, 'unknown option "--colour"; see: runledger events --help'],
    'an argument that is no option': ['tail x', {}, 2, 'unexpected argument "x"; see: runledger tail --help'],
    'an option without its value': ['events --limit', {}, 2, '--limit needs a value; see: runledger events --help'],
    'an option in the place of a value': ['events --q --json', {}, 2, '--q needs a value before "--json"; see: …'],
    'a value of an option without one': ['executions --json=1', {}, 2, '--json takes no value; see: …'],
    'a limit that is no number': ['events --limit x', {}, 2, '--limit must be a whole number above 0; see: …'],
    'what tail would never find: an automation': ['tail --automation x', {}, 1, '--automation is the name of no …'],
    'what tail would never find: a kind': ['tail --kind end', {}, 2, '--kind must be one of START, EVENT, …'],
    'a wrong state': ['executions --state x', {}, 1, '--state must be one of running, succeeded, failed, lost'],
    'an automation that nobody knows': ['events --automation x', {}, 1, '--automation is the name of no automation…'],
    'a time that is none': ['events --since monday', {}, 1, '--from must be a time in RFC 3339 such as …'],
    'a time that is given twice': ['events --since 1h --from 2h', {}, 2, '--since is the same as --from: …'],
    'no address': ['events', { RUNLEDGER_CONSOLE_URL: '' }, 1, '--console (RUNLEDGER_CONSOLE_URL) is required: …'],
    'no answer': ['events', away, 1, 'RUNLEDGER_CONSOLE_URL does not answer: dial tcp 127.0.0.1:1: …'],
    'no answer to tail': ['tail', away, 1, 'RUNLEDGER_CONSOLE_URL does not answer: dial tcp …'],
    'a certificate that is not trusted': [
      'executions',
      { RUNLEDGER_CA_FILE: '' },
      1,
      'RUNLEDGER_CONSOLE_URL has a certificate that is not trusted: set --ca-file (RUNLEDGER_CA_FILE)',
    ],
    'a wrong token': [
      'events',
      { RUNLEDGER_READ_TOKEN: 'x' },
      1,
      'RUNLEDGER_READ_TOKEN is not a token of this console',
    ],
    'a wrong token of tail': ['tail', { RUNLEDGER_READ_TOKEN: 'x' }, 1, 'RUNLEDGER_READ_TOKEN is not a token …'],
    'a write token': [
      'events',
      { RUNLEDGER_READ_TOKEN: 'write-token-of-acme' },
      1,
      'RUNLEDGER_READ_TOKEN must be a read token',
    ],
  };
  for (const [name, [args, settings, code, message]] of Object.entries(wrong)) {
    it(`names ${name}, in one line`, async () => {
      const { stderr, ...found } = await run(args.split(' ').filter(Boolean), settings);
      expect(found).to.deep.equal({ code, signal: null, stdout: '' });
      const [begin = '', rest] = message.split('…');
      expect(stderr).to.match(/^runledger: .*\n$/);
      if (rest === undefined) expect(stderr).to.equal(`runledger: ${begin}\n`);
      else expect(stderr).to.include(`runledger: ${begin}`);
    });
  }

  it('has help for each command alone, and for all', async () => {
    const all = await run(['--help']);
    for (const name of ['exec', 'event', 'flush', 'executions', 'events', 'tail', 'doctor', 'install', 'completion']) {
      const own = await run([name, '--help']);
      expect(own).to.deep.include({ code: 0, stderr: '' });
      expect(own.stdout.match(/^runledger \w+/gm)).to.deep.equal([`runledger ${name}`]);
      expect(all.stdout).to.include(own.stdout.replaceAll(/^(?=.)/gm, '  '));
    }
  });
});
