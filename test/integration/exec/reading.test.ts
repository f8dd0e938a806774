import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { CertificateFiles, createKeyPair } from '../../support/certificate.ts';
import { readToken, startConsole, type RunningConsole } from '../../support/console.ts';
import { automation, environmentWith, outcomeOf, runledger, type Outcome } from '../../support/exec.ts';
import { freePort } from '../../support/free-port.ts';
import { storeEvents } from '../../support/reading.ts';
import { migratedDatabase, type TestDatabase } from '../../support/store.ts';

describe('runledger events, executions and tail', () => {
  let files: CertificateFiles;
  let database: TestDatabase;
  let console: RunningConsole;
  let env: NodeJS.ProcessEnv;

  beforeEach(async () => {
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
  afterEach(async () => {
    await console.stop();
    await database[Symbol.asyncDispose]();
    await files[Symbol.asyncDispose]();
  });

  const run = (args: string[], settings: NodeJS.ProcessEnv = {}): Promise<Outcome> => {
    return outcomeOf(runledger(...args), { ...env, ...settings });
  };

  it('lists executions and events, as text', async () => {
    const executions = await run(['executions']);
    expect(executions).to.include({ code: 0, stderr: '' });
    expect(executions.stdout).to.match(/^2026-11-20T12:00:00\.000Z {2}failed .* run 1\n$/);
    const events = await run(['events', '--kind', 'ERROR']);
    expect(events.stdout).to.match(/ERROR .* run 1 {2}SMTP-421.*\n {4}line 1\n {4}line 2\n$/);
  });

  it('lists JSON, one line for each, page after page', async () => {
    const many = Array.from({ length: 120 }, (_, index) => ({
      automationId: automation,
      executionId: `more ${index}`,
    }));
    await storeEvents(database.db, ...many);
    const { stdout } = await run(['events', '--json', '--limit', '110']);
    const items = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { execution_id: string });
    expect(new Set(items.map(({ execution_id }) => execution_id))).to.have.lengthOf(110);
  });

  it('has colours where a terminal or FORCE_COLOR wants them, and not with NO_COLOR', async () => {
    expect((await run(['executions'], { FORCE_COLOR: '1' })).stdout).to.include('\u001b[31mfailed');
    expect((await run(['executions'], { NO_COLOR: '1' })).stdout).to.not.include('\u001b');
  });

  it('prints events as they are stored', async () => {
    const [program = '', ...args] = runledger('tail', '--json', '--kind', 'END');
    const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
    const lines = createInterface({ input: child.stdout });
    const first = once(lines, 'line') as Promise<[string]>;
    // Stored again and again: nothing says when the stream is open.
    const isThere = (): Promise<boolean> => Promise.race([first.then(() => true), sleep(200, false)]);
    for (let index = 0; !(await isThere()); index += 1) {
      const event = { automationId: automation, executionId: `later ${index}`, kind: 'END' as const };
      await storeEvents(database.db, { ...event, createdAt: Date.now() });
    }
    expect(JSON.parse((await first)[0])).to.include({ type_of_event: 'END', automation });
    child.kill('SIGINT');
    expect(await once(child, 'exit')).to.deep.equal([null, 'SIGINT']);
  });

  const wrong: Record<string, [string[], NodeJS.ProcessEnv, number, RegExp]> = {
    'an unknown command': [['list'], {}, 2, /unknown command "list"/],
    'an unknown option': [['events', '--colour'], {}, 2, /--colour/],
    'a limit that is no number': [['events', '--limit', 'x'], {}, 2, /--limit must be a whole number/],
    'a wrong state': [['executions', '--state', 'x'], {}, 1, /^runledger: --state must be one of/],
    'an automation that is no UUID': [
      ['events', '--automation', 'x'],
      {},
      1,
      /^runledger: --automation must be a UUID/,
    ],
    'no address': [['events'], { RUNLEDGER_CONSOLE_URL: '' }, 1, /--console \(RUNLEDGER_CONSOLE_URL\) is required/],
    'no answer': [
      ['events'],
      { RUNLEDGER_CONSOLE_URL: 'https://127.0.0.1:1' },
      1,
      /RUNLEDGER_CONSOLE_URL does not answer/,
    ],
    'no answer to tail': [
      ['tail'],
      { RUNLEDGER_CONSOLE_URL: 'https://127.0.0.1:1' },
      1,
      /RUNLEDGER_CONSOLE_URL does not/,
    ],
    'a wrong token': [['events'], { RUNLEDGER_READ_TOKEN: 'x' }, 1, /RUNLEDGER_READ_TOKEN is not a token/],
    'a wrong token of tail': [['tail'], { RUNLEDGER_READ_TOKEN: 'x' }, 1, /RUNLEDGER_READ_TOKEN is not a token/],
    'a write token': [['events'], { RUNLEDGER_READ_TOKEN: 'write-token-of-acme' }, 1, /must be a read token/],
  };
  for (const [name, [args, settings, code, message]] of Object.entries(wrong)) {
    it(`names ${name}`, async () => {
      const found = await run(args, settings);
      expect(found.stderr).to.match(message);
      expect(found).to.include({ code, stdout: '' });
    });
  }

  it('prints its help', async () => {
    expect((await run(['help'])).stdout).to.include('runledger exec --automation');
  });
});
