import { expect } from 'chai';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { run } from '../../../cmd/token/run.ts';
import { readSigningKeys, verifierKeyText } from '../../../internal/ledger/keys.ts';
import { macKeyOf, readMacKeys } from '../../../internal/ledger/mac.ts';
import { parseSecrets } from '../../../internal/cluster/tokens/manifest-file.ts';

interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function token(args: string[], input = ''): Promise<Outcome> {
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  const code = await run(args, { stdin: Readable.from([input]), stdout, stderr });
  stdout.end();
  stderr.end();
  return { code, stdout: await text(stdout), stderr: await text(stderr) };
}

describe('token command', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'runledger-token-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  async function verify(manifest: string, input: string): Promise<Outcome> {
    const path = join(folder, 'secret.yaml');
    await writeFile(path, manifest);
    return token(['verify', '--manifest', path], input);
  }

  it('makes a key of the log, and the public key of each organization', async () => {
    const made = await token(['ledger-key', '--log-name', 'log.example.org', '--namespace', 'runledger']);
    expect(made.code, made.stderr).to.equal(0);
    const [secret] = parseSecrets(made.stdout, 'stdout');
    expect(secret?.metadata).to.deep.include({ name: 'runledger-ledger-key', namespace: 'runledger' });
    const key = Buffer.from(String(secret?.data?.['ledger-key']), 'base64').toString();
    const publicKey = made.stderr.trim();
    expect(readSigningKeys(key).map((one) => verifierKeyText(one))).to.deep.equal([publicKey]);

    const [macKey] = readMacKeys(Buffer.from(String(secret?.data?.['ledger-mac-key']), 'base64').toString());
    expect(readSigningKeys(key).map(macKeyOf)).to.deep.equal([macKey]);
    const again = await token(['ledger-key', '--mac-key'], `${key}\n`);
    expect(readMacKeys(again.stdout)).to.deep.equal([macKey]);

    const own = await token(['ledger-key', '--public-key', publicKey, '--organization', 'acme']);
    expect(own.stdout).to.match(/^log\.example\.org\/acme\+[0-9a-f]{8}\+\S{44}\n$/);
    const alone = await token(['ledger-key', '--log-name', 'log.example.org', '--key-only']);
    expect(readSigningKeys(alone.stdout).map((one) => verifierKeyText(one))).to.deep.equal([alone.stderr.trim()]);
    const named = await token(['ledger-key', '--log-name', 'log.example.org', '--key-only', '--name', 'x']);
    expect(named.stderr).to.contain('--key-only excludes --namespace and --name');
    expect((await token(['ledger-key'])).code).to.equal(2);
    expect((await token(['ledger-key', '--log-name', 'a b'])).stderr).to.match(
      /^token: the name of a log must be one word/,
    );
  });

  it('creates, rotates and verifies', async () => {
    const created = await token(['create', '--organization', 'acme', '--namespace', 'tokens']);
    expect(created.code).to.equal(0);
    expect(created.stderr).to.match(/^rl_[\w-]{43}\n$/);
    expect(created.stdout).to.contain('namespace: tokens').and.not.contain(created.stderr.trim());

    const rotated = await token(['rotate'], created.stdout);
    expect(rotated.code).to.equal(0);
    expect(rotated.stderr).not.to.equal(created.stderr);
    for (const { stderr } of [created, rotated]) {
      expect(await verify(rotated.stdout, stderr)).to.include({
        code: 0,
        stdout: 'valid: organization acme, scope write\n',
      });
    }
    expect(await verify(created.stdout, rotated.stderr)).to.include({ code: 1 });
  });

  for (const form of [[], ['--clear']]) {
    it(`creates and rotates ping keys ${form.join('')}`, async () => {
      const created = await token(['create', '--organization', 'acme', '--ping', ...form]);
      expect(created.stderr).to.match(/^rlp_[\w-]{43}\n$/);
      expect(created.stdout).to.contain('name: runledger-acme.ping');
      const rotated = await token(['rotate', '--ping', ...form], created.stdout);
      for (const { stderr } of [created, rotated]) {
        expect(await verify(rotated.stdout, stderr)).to.include({
          code: 0,
          stdout: 'valid: organization acme, scope ping\n',
        });
      }
      expect(rotated.stdout).to.contain(form.length > 0 ? 'ping-2:' : 'ping-sha256-2:');
    });
  }

  it('refuses a token of two scopes', async () => {
    const { code, stderr } = await token(['create', '--organization', 'acme', '--ping', '--read']);
    expect(code).to.equal(2);
    expect(stderr).to.contain('--read and --ping exclude each other');
  });

  it('keeps the digest of a token, and the token itself when it is told to', async () => {
    for (const [form, entry] of [
      [[], 'sha256-1'],
      [['--clear'], 'token-1'],
    ] as const) {
      const { stdout, stderr } = await token(['create', '--organization', 'acme', ...form]);
      const [secret] = parseSecrets(stdout, 'stdout');
      expect(Object.keys(secret?.data ?? {})).to.deep.equal([entry]);
      expect(await verify(stdout, stderr)).to.include({ code: 0 });
    }
  });

  it('creates and rotates read tokens, and says what a token may do', async () => {
    const created = await token(['create', '--organization', 'acme', '--read']);
    expect(created.stderr).to.match(/^rlr_[\w-]{43}\n$/);
    expect(created.stdout).to.contain('name: runledger-acme.read').and.contain('read-sha256-1:');
    expect(created.stdout).not.to.contain(created.stderr.trim());
    const clear = await token(['create', '--organization', 'acme', '--read', '--clear']);
    expect(clear.stdout).to.contain('read-1:').and.not.contain('read-sha256-1:');

    const rotated = await token(['rotate', '--read'], (await token(['create', '--organization', 'acme'])).stdout);
    expect(rotated.stderr).to.match(/^rlr_/);
    expect(rotated.stdout).to.contain('sha256-1:').and.contain('read-sha256-2:');
    for (const { stdout, stderr } of [created, clear, rotated]) {
      expect(await verify(stdout, stderr)).to.deep.equal({
        code: 0,
        stdout: 'valid: organization acme, scope read\n',
        stderr: '',
      });
    }
  });

  it('rotates the Secret that is named, in a file', async () => {
    const path = join(folder, 'secrets.yaml');
    const one = await token(['create', '--organization', 'one']);
    const two = await token(['create', '--organization', 'two', '--name', 'second']);
    await writeFile(path, `${one.stdout}---\n${two.stdout}`);
    expect(await token(['rotate', '--manifest', path])).to.deep.equal({
      code: 1,
      stdout: '',
      stderr: 'token: several Secrets there: choose one with --name\n',
    });
    const rotated = await token(['rotate', '--manifest', path, '--name', 'second']);
    expect(rotated.stdout).to.contain('name: second').and.contain('sha256-2:');
    expect(await token(['rotate', '--name', 'third'], one.stdout)).to.include({ code: 1, stdout: '' });
    expect(await token(['rotate'], 'kind: Namespace')).to.include({ code: 1, stderr: 'token: no Secret there\n' });
  });

  it('names the label it is told', async () => {
    const { stdout, stderr } = await token(['create', '--organization', 'acme', '--label', 'tenant']);
    expect(stdout).to.contain('tenant: acme');
    expect(await verify(stdout, stderr)).to.include({ code: 1 });
  });

  it('tells what is refused when it verifies, without the value', async () => {
    const manifest =
      'kind: Secret\nmetadata: { name: one, labels: { runledger.dev/organization: a } }\nstringData: { token: tiny }\n';
    expect(await verify(manifest, 'tiny')).to.deep.equal({
      code: 1,
      stdout: 'not valid: no Secret of the manifest has this token\n',
      stderr: 'refused: Secret one: token: the token is shorter than 16 characters\n',
    });
  });

  it('explains a wrong call and exits with 2', async () => {
    const wrong: [string[], string][] = [
      [[], 'no command given'],
      [['toString'], 'unknown command "toString"'],
      [['create'], '--organization is required'],
      [['create', '--organisation', 'acme'], "Unknown option '--organisation'"],
      [['create', 'acme'], "Unexpected argument 'acme'"],
      [['verify'], '--manifest is required'],
      [['verify', '--manifest', 'x'], 'a token is read from standard input, and there is none'],
    ];
    for (const [args, message] of wrong) {
      const { code, stdout, stderr } = await token(args, '\n');
      expect({ code, stdout }, args.join(' ')).to.deep.equal({ code: 2, stdout: '' });
      expect(stderr).to.contain(message).and.contain('token create --organization ID');
    }
  });

  it('exits with 1 and one line when it cannot do it', async () => {
    expect(await token(['create', '--organization', 'a b'])).to.include({ code: 1, stdout: '' });
    const { code, stderr } = await token(['rotate', '--manifest', join(folder, 'missing.yaml')]);
    expect(code).to.equal(1);
    expect(stderr).to.match(/^token: ENOENT.*missing\.yaml'\n$/);
  });

  it('helps', async () => {
    expect(await token(['--help'])).to.include({ code: 0, stderr: '' });
  });
});
