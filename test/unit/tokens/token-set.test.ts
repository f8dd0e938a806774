import { expect } from 'chai';
import * as fc from 'fast-check';
import { explain } from '../../../internal/tokens/secret-refusal.ts';
import type { SecretManifest } from '../../../internal/tokens/secret-manifest.ts';
import { digestOf } from '../../../internal/tokens/token-entry.ts';
import { tokenSetOf } from '../../../internal/tokens/token-set.ts';
import { authenticateIn } from '../../../internal/tokens/token-source.ts';

const label = 'runledger.dev/organization';
const tokenA = 'aaaaaaaaaaaaaaaa-A';
const tokenB = 'bbbbbbbbbbbbbbbb-B';

function secret(name: string, organization: string, entries: Record<string, unknown>): SecretManifest {
  return { metadata: { name, labels: { [label]: organization } }, stringData: entries };
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

function reasons(secrets: SecretManifest[]): string[] {
  return tokenSetOf(secrets, label).refusals.map((refusal) => explain(refusal));
}

describe('token set', () => {
  it('takes several tokens of a Secret and several Secrets of an organization', () => {
    const set = tokenSetOf(
      [
        secret('one', 'acme', { 'token-1': tokenA, token: 'cccccccccccccccc' }),
        secret('two', 'acme', { tokenX: tokenB }),
      ],
      label,
    );
    for (const token of [tokenA, tokenB, 'cccccccccccccccc']) {
      expect(authenticateIn(set, token)).to.include({ status: 'known', organization: 'acme', scope: 'write' });
    }
    expect(set.organizationCount).to.equal(1);
    expect(set.refusals).to.deep.equal([]);
  });

  it('reads base64 data, lets stringData win, and trims white space', () => {
    const manifest: SecretManifest = {
      metadata: { name: 'one', labels: { [label]: 'acme' } },
      data: { 'token-1': base64(` ${tokenA}\r\n`), 'token-2': base64('replaced-replaced') },
      stringData: { 'token-2': `\t${tokenB}\n` },
    };
    const set = tokenSetOf([manifest], label);
    expect([...set.tokens.keys()].sort()).to.deep.equal([digestOf(tokenA), digestOf(tokenB)].sort());
  });

  it('takes the SHA-256 of a token in place of the token, in any letter case', () => {
    const set = tokenSetOf([secret('one', 'acme', { 'sha256-1': ` ${digestOf(tokenA).toUpperCase()}\n` })], label);
    expect(authenticateIn(set, tokenA)).to.include({ status: 'known', organization: 'acme', scope: 'write' });
    expect(authenticateIn(set, digestOf(tokenA)).status).to.equal('unknown');
  });

  it('says why an entry is refused, and goes on with the others', () => {
    const bad = { 'token-1': tokenA, 'token-2': ' ', 'token-3': 'fifteen-letters', 'token-4': 'ümlaut-ümlaut-ümlaut' };
    const secrets = [
      secret('one', 'acme', { ...bad, 'token-5': 'x'.repeat(4097), 'sha256-1': 'no digest', 'token-6': 7 }),
    ];
    expect(reasons(secrets)).to.deep.equal([
      'token-2: the token is empty',
      'token-3: the token is shorter than 16 characters',
      'token-4: the token holds characters that a request header cannot carry: use printable ASCII',
      'token-5: the token is longer than 4096 characters',
      'sha256-1: the value is not a hexadecimal SHA-256 (64 digits)',
      'token-6: the value is not base64 (clear text belongs under stringData)',
    ]);
    expect(tokenSetOf(secrets, label).tokens.size).to.equal(1);
  });

  it('refuses clear text under data instead of taking another token out of it', () => {
    const manifest = {
      metadata: { name: 'one', labels: { [label]: 'acme' } },
      data: { token: 'my clear text token!' },
    };
    expect(reasons([manifest])).to.deep.equal(['token: the value is not base64 (clear text belongs under stringData)']);
  });

  it('refuses a Secret without an organization and one without an entry for tokens', () => {
    expect(reasons([{ metadata: { name: 'one' }, stringData: { token: tokenA } }])).to.deep.equal([
      'the organization label has no value',
    ]);
    expect(reasons([secret('one', '', { token: tokenA })])).to.deep.equal(['the organization label has no value']);
    expect(reasons([secret('one', 'acme', { password: tokenA })])).to.deep.equal([
      'the Secret has no entry that begins with "token", "sha256-" or "read-"',
    ]);
    expect(reasons([{ metadata: { name: 'one', labels: { [label]: 'acme' } }, data: null }])).to.have.length(1);
  });

  it('refuses the token of two organizations for both, in clear or as a digest', () => {
    const secrets = [
      secret('one', 'acme', { 'token-1': tokenA, 'token-2': tokenB }),
      secret('two', 'globex', { 'sha256-1': digestOf(tokenA) }),
    ];
    const set = tokenSetOf(secrets, label);
    expect(authenticateIn(set, tokenA).status).to.equal('unknown');
    expect(authenticateIn(set, tokenB)).to.include({ status: 'known', organization: 'acme', scope: 'write' });
    expect(reasons(secrets)).to.deep.equal([
      'token-1: the same token is in another organization, so it is refused for both (see Secret two)',
      'sha256-1: the same token is in another organization, so it is refused for both (see Secret one)',
    ]);
  });

  it('takes the same token twice in one organization', () => {
    const set = tokenSetOf([secret('one', 'acme', { token: tokenA }), secret('two', 'acme', { token: tokenA })], label);
    expect(set.tokens.size).to.equal(1);
    expect(set.refusals).to.deep.equal([]);
  });

  it('names the organization by the label it is told', () => {
    const manifest = { metadata: { name: 'one', labels: { tenant: 'acme' } }, stringData: { token: tokenA } };
    expect(authenticateIn(tokenSetOf([manifest], 'tenant'), tokenA).status).to.equal('known');
  });

  it('is the same whatever the order of the Secrets, and no token belongs to two organizations', () => {
    const organizations = fc.constantFrom('acme', 'globex', 'initech');
    const tokens = fc.constantFrom(...Array.from({ length: 6 }, (_, index) => `token-number-${index}-long`));
    const world = fc.array(fc.tuple(organizations, fc.uniqueArray(tokens, { minLength: 1, maxLength: 3 })), {
      maxLength: 8,
    });
    fc.assert(
      fc.property(world, fc.func(fc.integer()), (drawn, order) => {
        const secrets = drawn.map(([organization, held], index) =>
          secret(
            `secret-${index}`,
            organization,
            Object.fromEntries(held.map((token, entry) => [`token-${entry}`, token])),
          ),
        );
        const set = tokenSetOf(secrets, label);
        const shuffled = tokenSetOf(
          secrets.toSorted((a, b) => order(a.metadata?.name) - order(b.metadata?.name)),
          label,
        );
        expect(shuffled.tokens).to.deep.equal(set.tokens);
        expect(shuffled.refusals.map(explain).sort()).to.deep.equal(set.refusals.map(explain).sort());
        for (const token of new Set(drawn.flatMap(([, held]) => held))) {
          const owners = new Set(
            drawn.filter(([, held]) => held.includes(token)).map(([organization]) => organization),
          );
          const [owner] = owners;
          const expected = owners.size === 1 ? { status: 'known', organization: owner } : { status: 'unknown' };
          expect(authenticateIn(set, token)).to.include(expected);
        }
      }),
    );
  });

  it('holds no token, only digests', () => {
    const set = tokenSetOf([secret('one', 'acme', { token: tokenA, 'token-2': 'short-secret' })], label);
    const everything = JSON.stringify([[...set.tokens], set.refusals, set.refusals.map(explain)]);
    expect(everything).not.to.contain(tokenA);
    expect(everything).not.to.contain('short-secret');
  });

  it('cannot tell before a set is loaded', () => {
    expect(authenticateIn(undefined, tokenA)).to.deep.equal({ status: 'not-loaded' });
  });
});
