import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFile, readdir, stat } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { outcomeOf, program, reported, runledger } from '../support/exec.ts';
import { repository } from '../support/helm.ts';
import { suiteExec } from '../support/suite-exec.ts';

const run = promisify(execFile);
const sources = join(repository, 'cmd/runledger');

describe('the sources of the command', () => {
  it('are formatted, without complaints of vet, and build for each system in at most 10 MB', async () => {
    expect((await run('gofmt', ['-l', '.'], { cwd: sources })).stdout).to.equal('');
    for (const GOOS of ['linux', 'darwin', 'windows'])
      await run('go', ['vet', '.'], { cwd: sources, env: { ...process.env, GOOS, CGO_ENABLED: '0' } });
    await run('make', ['commands'], { cwd: repository });
    const built = join(repository, '.cache/runledger');
    const names = (await readdir(built)).filter((name) => /^(linux|darwin|windows)-/.test(name));
    expect(names).to.have.members([
      'linux-amd64',
      'linux-arm64',
      'darwin-amd64',
      'darwin-arm64',
      'windows-amd64.exe',
      'windows-arm64.exe',
    ]);
    for (const name of names) expect((await stat(join(built, name))).size, name).to.be.below(10e6);
  }).timeout(300_000);

  it('become a .deb and an .rpm, which hold the program, its manual, and a spool that is closed to others', async () => {
    await run('make', ['packages'], { cwd: repository });
    const packaged = (name: string): string => join(repository, '.cache/runledger', name);
    const { stdout } = await run('dpkg-deb', ['--contents', packaged('runledger-arm64.deb')]);
    expect(stdout).to.match(/^-rwxr-xr-x root\/root .* \.\/usr\/bin\/runledger$/m);
    expect(stdout).to.match(/^-rw-r--r-- root\/root .* \.\/usr\/share\/man\/man1\/runledger\.1\.gz$/m);
    expect(stdout).to.match(/^drwx------ root\/root .* \.\/var\/spool\/runledger\/$/m);
    const rpm = await readFile(packaged('runledger-amd64.rpm'));
    expect(rpm.subarray(0, 4).toString('hex')).to.equal('edabeedb');
    expect(rpm.includes('/usr/bin/')).to.equal(true);
  }).timeout(300_000);

  it('need nothing but the standard library, and the program no library of the system', async () => {
    const { stdout } = await run('go', ['list', '-deps', '-f', '{{if not .Standard}}{{.ImportPath}}{{end}}'], {
      cwd: sources,
    });
    expect(stdout.trim().split('\n').filter(Boolean)).to.have.lengthOf(1);
    expect((await run('readelf', ['-d', program])).stdout).to.include('no dynamic section');
  });
});

describe('runledger doctor, install, completion and exec --dry-run', () => {
  const exec = suiteExec();

  it('doctor says what is set, what answers, and which clock', async () => {
    const { code, stdout } = await outcomeOf(runledger('doctor'), exec.env);
    expect(stdout).to.match(/^version {3}development\n/);
    expect(stdout).to.match(/^ingest {4}ok {5}https:\/\/localhost:\d+ answers within \d+ ms$/m);
    expect(stdout).to.match(/^token {5}ok {5}of organization acme, scope write$/m);
    expect(stdout).to.match(/^clock {5}ok {5}-?\d+\.\d s ahead of Runledger's$/m);
    expect(stdout).to.match(/^spool {5}ok {5}\/.*\/spool\/[\da-f]{12}: 0 waiting, 0 refused$/m);
    expect(code).to.equal(0);
  });

  const wrong: Record<string, [NodeJS.ProcessEnv, RegExp]> = {
    'no address': [{ RUNLEDGER_URL: '' }, /^ingest {4}WRONG {2}--url \(RUNLEDGER_URL\) is required/m],
    'a wrong token': [{ RUNLEDGER_TOKEN: 'wrong' }, /^ingest {4}WRONG {2}https:.* answers 401: /m],
    'no answer': [{ RUNLEDGER_URL: 'https://127.0.0.1:1' }, /^ingest {4}WRONG {2}.* does not answer: dial tcp/m],
    'an unknown certificate': [{ RUNLEDGER_CA_FILE: '' }, /^ingest {4}WRONG {2}.* a certificate that is not trusted/m],
    'a spool that cannot be made': [{ RUNLEDGER_SPOOL: '/dev/null/x' }, /^spool {5}WRONG {2}stat .* not a directory/m],
    'a console that does not answer': [
      { RUNLEDGER_CONSOLE_URL: 'https://127.0.0.1:1', RUNLEDGER_READ_TOKEN: 'x' },
      /^console {3}WRONG {2}.* does not answer/m,
    ],
  };
  for (const [name, [settings, line]] of Object.entries(wrong)) {
    it(`doctor names ${name}, and fails`, async () => {
      const { code, stdout } = await outcomeOf(runledger('doctor'), { ...exec.env, ...settings });
      expect(stdout).to.match(line);
      expect(code).to.equal(1);
    });
  }

  it('doctor tells that the clocks are hours apart', async () => {
    const { TLS_CERT_FILE, TLS_KEY_FILE } = exec.files.settings;
    const [cert, key] = [await readFile(TLS_CERT_FILE), await readFile(TLS_KEY_FILE)];
    const time = new Date(Date.now() - 3 * 3_600_000).toISOString();
    const server = createServer({ cert, key }, (_, response) => {
      response.end(JSON.stringify({ organization: 'acme', scope: 'write', time }));
    });
    await once(server.listen(0), 'listening');
    try {
      const { port } = server.address() as AddressInfo;
      const { code, stdout } = await outcomeOf(runledger('doctor', '--url', `https://localhost:${port}`), exec.env);
      expect(stdout).to.match(/^clock {5}WRONG {2}10\d\d\d\.\d s ahead of Runledger's$/m);
      expect(code).to.equal(1);
    } finally {
      server.closeAllConnections();
      await once(server.close(), 'close');
    }
  });

  it('exec --dry-run prints START and starts nothing; what is wrong with the settings is an error', async () => {
    const made = join(exec.folder, 'made');
    const command = reported(['touch', made], ['--dry-run', '--execution', 'run 1']);
    const { code, stdout } = await outcomeOf(command, exec.env);
    expect(stdout).to.equal('START 0b0e8a3c-6f5e-4c6b-9f0e-3f8b9a9d1c11 run 1 "touch"\n');
    expect(code).to.equal(0);
    const without = await outcomeOf(command, { ...exec.env, RUNLEDGER_URL: '' });
    expect(without.stderr).to.match(/^runledger: --url \(RUNLEDGER_URL\) is required/);
    expect(without.code).to.equal(1);
    expect(await readdir(exec.folder)).to.deep.equal([]);
    expect(await exec.suite.stored()).to.deep.equal([]);
  });

  it('completion in bash knows the commands, the options, and the command after --', async () => {
    const complete = async (...words: string[]): Promise<string[]> => {
      const script = `source <("$0" completion bash); COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _runledger
        printf '%s\n' "\${COMPREPLY[@]}"`;
      const { stdout, stderr } = await outcomeOf(['bash', '-c', script, program, 'runledger', ...words], exec.env);
      expect(stderr).to.equal('');
      return stdout.trim().split('\n');
    };
    expect(await complete('e')).to.deep.equal(['exec', 'event', 'executions', 'events']);
    expect(await complete('exec', '--auto')).to.deep.equal(['--automation']);
    for (const shell of ['zsh', 'fish', 'powershell'])
      expect((await outcomeOf(runledger('completion', shell), exec.env)).stdout).to.include('executions');
    expect(await outcomeOf(runledger('completion', 'csh'), exec.env)).to.include({ code: 2, stdout: '' });
  });

  it('install copies the program, and replaces one that runs', async () => {
    const folder = join(exec.folder, 'bin');
    for (let round = 0; round < 2; round += 1)
      expect(await outcomeOf(runledger('install', folder), exec.env)).to.include({ code: 0, stderr: '' });
    expect(await readdir(folder)).to.deep.equal(['runledger']);
    const { stdout } = await outcomeOf([join(folder, 'runledger'), 'version'], {});
    expect(stdout).to.equal('development\n');
    expect(await outcomeOf(runledger('install', '/proc/x'), exec.env)).to.include({ code: 1 });
  });
});
