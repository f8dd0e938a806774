import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { parseSecrets } from '../../../internal/cluster/tokens/manifest-file.ts';
import { digestOf } from '../../../internal/cluster/tokens/token-entry.ts';
import { readSigningKeys, verifierKeyText } from '../../../internal/ledger/keys.ts';
import { actKeyOf, macKeyOf, readMacKeys } from '../../../internal/ledger/mac.ts';
import { runAdmin, type AdminRun } from '../../support/admin.ts';

function token(args: string[], input = ''): Promise<AdminRun> {
  return runAdmin(['token', ...args], { input });
}

describe('runledger-admin token', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'runledger-token-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  async function verify(manifest: string, input: string, ...more: string[]): Promise<AdminRun> {
    const path = join(folder, 'secret.yaml');
    await writeFile(path, manifest);
    return token(['verify', '--manifest', path, ...more], input);
  }

  /** The fingerprint that logs and limits show. */
  const fingerprint = (made: string): string => digestOf(made.trim()).slice(0, 12);

  /** What `kubectl patch` makes of a Secret. */
  function patched(manifest: string, patch: string): string {
    const [secret] = parseSecrets(manifest, 'manifest');
    const { data = {}, stringData = {} } = JSON.parse(patch) as {
      data?: Record<string, null>;
      stringData?: Record<string, string>;
    };
    const added = Object.entries(stringData).map(([entry, text]) => [entry, Buffer.from(text).toString('base64')]);
    const all = { ...secret?.data, ...Object.fromEntries(added), ...data };
    const kept = Object.entries(all).filter(([, value]) => value !== null);
    return JSON.stringify({ ...secret, kind: 'Secret', data: Object.fromEntries(kept) });
  }

  it('makes a key of the log, and from it the Secret, the public key and the key of MACs', async () => {
    const made = await token(['ledger-key', '--log-name', 'log.example.org']);
    expect(made).to.include({ code: 0, stderr: '' });
    const key = made.stdout.trim();
    const [signing] = readSigningKeys(key);
    if (signing === undefined) throw new Error('no key');
    const publicKey = (await token(['ledger-key', '--public'], key)).stdout;
    expect(publicKey).to.equal(`${verifierKeyText(signing)}\n`);
    const macKey = (await token(['ledger-key', '--mac-key'], key)).stdout;
    expect(readMacKeys(macKey)).to.deep.equal([macKeyOf(signing)]);

    const { stdout } = await token(['ledger-key', '--secret', '--namespace', 'runledger'], key);
    const [secret] = parseSecrets(stdout, 'stdout');
    expect(secret?.metadata).to.deep.include({ name: 'runledger-ledger-key', namespace: 'runledger' });
    const entries = Object.values(secret?.data ?? {}).map((value) => Buffer.from(String(value), 'base64').toString());
    const actKey = (await token(['ledger-key', '--act-key'], key)).stdout;
    expect(readMacKeys(actKey, 'ACT')).to.deep.equal([actKeyOf(macKeyOf(signing))]);
    expect(entries).to.deep.equal([key, macKey.trim(), actKey.trim()]);

    const own = await token(['ledger-key', '--public-key', publicKey.trim(), '--organization', 'acme']);
    expect(own.stdout).to.match(/^log\.example\.org\/acme\+[0-9a-f]{8}\+\S{44}\n$/);
    const named = await token(['ledger-key', '--log-name', 'log.example.org', '--name', 'x']);
    expect(named.stderr).to.contain('--namespace and --name need --secret');
    expect((await token(['ledger-key'])).code).to.equal(2);
    const misnamed = await token(['ledger-key', '--log-name', 'a b']);
    expect(misnamed.stderr).to.match(/^token ledger-key: the name of a log must be one word/);
    expect(misnamed.code).to.equal(2);
  });

  for (const [scope, flag, prefix, suffix] of [
    ['write', [], 'rl', ''],
    ['read', ['--read'], 'rlr', '.read'],
    ['ping', ['--ping'], 'rlp', '.ping'],
  ] as const) {
    it(`creates, rotates and revokes a ${scope} token, and no stream but its own ever has it`, async () => {
      const [first, second] = [await token(['create', ...flag]), await token(['create', ...flag])];
      for (const made of [first, second]) {
        expect(made).to.include({ code: 0, stderr: '' });
        expect(made.stdout).to.match(new RegExp(`^${prefix}_[\\w-]{43}\n$`));
      }
      const secret = await token(['secret', '--organization', 'acme', '--namespace', 'tokens'], first.stdout);
      expect(secret).to.include({ code: 0, stderr: '' });
      expect(secret.stdout)
        .to.contain(`name: runledger-acme${suffix}\n`)
        .and.contain('namespace: tokens')
        .and.not.contain(first.stdout.trim());

      const patch = await token(['rotate'], second.stdout);
      expect(patch.stdout).not.to.contain(second.stdout.trim());
      const both = patched(secret.stdout, patch.stdout);
      for (const { stdout } of [first, second]) {
        expect(await verify(both, stdout)).to.deep.equal({
          code: 0,
          stdout: `valid: organization acme, scope ${scope}, fingerprint ${fingerprint(stdout)}\n`,
          stderr: '',
        });
      }
      expect(await verify(secret.stdout, second.stdout)).to.include({ code: 1 });

      const revoked = await token(['revoke', '--fingerprint', fingerprint(first.stdout)], both);
      const left = patched(both, revoked.stdout);
      expect(await verify(left, first.stdout)).to.include({ code: 1 });
      expect(await verify(left, second.stdout)).to.include({ code: 0 });
      expect(await token(['revoke', '--fingerprint', fingerprint(first.stdout)], left)).to.deep.equal({
        code: 1,
        stdout: '',
        stderr: `token revoke: the Secret has no token with this fingerprint, but ${fingerprint(second.stdout)}\n`,
      });
    });
  }

  it('revokes a token that somebody wrote into the Secret under another name', async () => {
    const manifest = 'kind: Secret\nmetadata: { name: one }\nstringData: { token: sixteen-or-more-letters }\n';
    const { stdout } = await token(['revoke', '--fingerprint', fingerprint('sixteen-or-more-letters')], manifest);
    expect(JSON.parse(stdout)).to.deep.equal({ data: { token: null } });
  });

  it('names the label it is told', async () => {
    const made = await token(['create']);
    const { stdout } = await token(['secret', '--organization', 'acme', '--label', 'tenant'], made.stdout);
    expect(stdout).to.contain('tenant: acme');
    expect(await verify(stdout, made.stdout)).to.include({ code: 1 });
    expect(await verify(stdout, made.stdout, '--label', 'tenant')).to.include({ code: 0 });
  });

  it('tells what is refused when it verifies, without the value', async () => {
    const manifest =
      'kind: Secret\nmetadata: { name: one, labels: { runledger.dev/organization: a } }\nstringData: { token: tiny }\n';
    const { code, stdout, stderr } = await verify(manifest, 'tiny');
    expect(stderr).to.equal('refused: Secret one: token: the token is shorter than 16 characters\n');
    expect(stdout).to.match(/^not valid: no Secret of the manifest has this token, fingerprint [0-9a-f]{12}\n$/);
    expect(code).to.equal(1);
  });

  it('explains a wrong call and exits with 2', async () => {
    const wrong: [string[], string][] = [
      [['create', '--read', '--ping'], 'token create: --read and --ping exclude each other'],
      [['create', 'acme'], "token create: Unexpected argument 'acme'"],
      [['secret'], 'token secret: --organization is required'],
      [['secret', '--organisation', 'acme'], "token secret: Unknown option '--organisation'"],
      [['secret', '--organization', 'acme'], 'a token is read from standard input, and there is none'],
      [['revoke', '--fingerprint', 'abc'], '--fingerprint must be 12 or more hexadecimal digits'],
      [['verify'], 'token verify: --manifest is required'],
    ];
    for (const [args, message] of wrong) {
      const { code, stdout, stderr } = await token(args, '\n');
      expect({ code, stdout }, args.join(' ')).to.deep.equal({ code: 2, stdout: '' });
      expect(stderr).to.contain(message).and.contain(`Usage: runledger-admin token ${args[0]}`);
    }
  });

  for (const [about, input, fault] of [
    ['short', 'a'.repeat(15), 'the token is shorter than 16 characters'],
    ['long', 'a'.repeat(4097), 'the token is longer than 4096 characters'],
    ['of two lines', `${'a'.repeat(16)}\n${'b'.repeat(16)}\n`, 'the token has characters that a request header cannot'],
    ['of other letters', 'ä'.repeat(16), 'the token has characters that a request header cannot have'],
  ] as const) {
    it(`makes no digest of a token that ingest would refuse in clear text: one that is ${about}`, async () => {
      for (const args of [['secret', '--organization', 'acme'], ['rotate']]) {
        const { code, stdout, stderr } = await token(args, input);
        expect({ code, stdout }, args.join(' ')).to.deep.equal({ code: 2, stdout: '' });
        expect(stderr).to.contain(`token ${args[0]}: ${fault}`);
      }
    });
  }

  it('accepts a token of 16 to 4,096 printable characters', async () => {
    for (const input of ['a'.repeat(16), '~ '.repeat(2047) + '~~']) {
      expect(await token(['secret', '--organization', 'acme'], `${input}\n`)).to.include({ code: 0, stderr: '' });
    }
  });

  it('derives nothing from an empty or damaged key of the log, and does not repeat it', async () => {
    const key = (await token(['ledger-key', '--log-name', 'log.example.org'])).stdout.trim();
    const publicKey = (await token(['ledger-key', '--public'], key)).stdout.trim();
    for (const [input, fault] of [
      ['', 'a key is read from standard input, and there is none'],
      ['secret', 'standard input: is no key that `token ledger-key` made'],
      [publicKey, 'standard input: is no key that `token ledger-key` made'],
      [key.replace('log.', 'lag.'), 'standard input: is damaged: its id does not match it'],
    ] as const) {
      for (const option of ['--public', '--mac-key', '--act-key', '--secret']) {
        const { code, stdout, stderr } = await token(['ledger-key', option], input);
        expect({ code, stdout }, option).to.deep.equal({ code: 2, stdout: '' });
        expect(stderr).to.contain(`token ledger-key: ${fault}\n`);
      }
    }
    const others = await token(['ledger-key', '--public-key', key, '--organization', 'acme']);
    expect(others).to.include({ code: 2, stdout: '' });
    expect(others.stderr).to.contain('--public-key: is no public key of a log').and.not.contain(key);
  });

  it('prints one line and no result when it cannot do it', async () => {
    expect(await token(['secret', '--organization', 'a b'], 'some longer token')).to.include({ code: 1, stdout: '' });
    const { code, stderr } = await token(['verify', '--manifest', join(folder, 'missing.yaml')], 'some token');
    expect(code).to.equal(2);
    expect(stderr).to.match(/^token verify: ENOENT.*missing\.yaml'\n$/);
  });
});
