import { expect } from 'chai';
import * as fc from 'fast-check';
import { explain } from '../../../internal/cluster/tokens/secret-refusal.ts';
import type { SecretManifest } from '../../../internal/cluster/secret.ts';
import { digestOf } from '../../../internal/cluster/tokens/token-entry.ts';
import { rateAnnotation, tokenSetOf } from '../../../internal/cluster/tokens/token-set.ts';
import { authenticateIn } from '../../../internal/cluster/tokens/token-source.ts';

const label = 'runledger.dev/organization';
const [tokenA, tokenB] = ['aaaaaaaaaaaaaaaa-A', 'bbbbbbbbbbbbbbbb-B'];
const acme = { status: 'known', organization: 'acme', scope: 'write' };

function secret(name: string, organization: string, entries: Record<string, unknown>): SecretManifest {
  return { metadata: { name, labels: { [label]: organization } }, stringData: entries };
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const setOf = (...secrets: SecretManifest[]) => tokenSetOf(secrets, label);
const reasons = (...secrets: SecretManifest[]): string[] => setOf(...secrets).refusals.map(explain);

describe('token set', () => {
  it('takes several tokens of a Secret and several Secrets of an organization, the same token too', () => {
    const tokens = { 'token-1': tokenA, token: 'cccccccccccccccc' };
    const set = setOf(secret('one', 'acme', tokens), secret('two', 'acme', { tokenX: tokenB, token: tokenA }));
    for (const token of [tokenA, tokenB, 'cccccccccccccccc']) expect(authenticateIn(set, token)).to.include(acme);
    expect([set.organizations, set.tokens.size, set.refusals]).to.deep.equal([['acme'], 3, []]);
  });

  it('reads base64 data, lets stringData win, and trims white space', () => {
    const manifest: SecretManifest = {
      metadata: { name: 'one', labels: { [label]: 'acme' } },
      data: { 'token-1': base64(` ${tokenA}\r\n`), 'token-2': base64('replaced-replaced') },
      stringData: { 'token-2': `\t${tokenB}\n` },
    };
    expect([...setOf(manifest).tokens.keys()]).to.have.members([digestOf(tokenA), digestOf(tokenB)]);
  });

  it('takes the SHA-256 of a token in place of the token, in any letter case', () => {
    const set = setOf(secret('one', 'acme', { 'sha256-1': ` ${digestOf(tokenA).toUpperCase()}\n` }));
    expect(authenticateIn(set, tokenA)).to.include(acme);
    expect(authenticateIn(set, digestOf(tokenA)).status).to.equal('unknown');
  });

  for (const [entries, reason] of [
    [{ token: ' ' }, 'token: the token is empty'],
    [{ token: 'fifteen-letters' }, 'token: the token is shorter than 16 characters'],
    [
      { token: 'ümlaut-ümlaut-ümlaut' },
      'token: the token has characters that a request header cannot have: use printable ASCII',
    ],
    [{ token: 'x'.repeat(4097) }, 'token: the token is longer than 4096 characters'],
    [{ 'sha256-1': 'no digest' }, 'sha256-1: the value is not a hexadecimal SHA-256 (64 digits)'],
    [{ 'sha256-1': digestOf('') }, 'sha256-1: the token is empty'],
    [{ 'read-1': 'fifteen-letters' }, 'read-1: the token is shorter than 16 characters'],
    [{ 'read-sha256-1': digestOf('') }, 'read-sha256-1: the token is empty'],
    [{ token: 7 }, 'token: the value is not base64 (clear text belongs under stringData)'],
  ] as const) {
    it(`refuses an entry and takes the others: ${reason}`, () => {
      const one = secret('one', 'acme', { 'token-1': tokenA, ...entries });
      expect(reasons(one)).to.deep.equal([reason]);
      expect(authenticateIn(setOf(one), tokenA)).to.include(acme);
    });
  }

  describe('takes the rate of an organization from the annotation of its Secrets', () => {
    const rated = (name: string, token: string, rate: unknown): SecretManifest => ({
      metadata: { name, labels: { [label]: 'acme' }, annotations: { [rateAnnotation]: rate } },
      stringData: { token },
    });
    const rateOf = (...secrets: SecretManifest[]): unknown =>
      (authenticateIn(setOf(...secrets), tokenA) as { rate?: number }).rate;
    const plain = secret('plain', 'acme', { token: tokenA });

    it('the highest one, for each token; 0 is no limit', () => {
      expect(rateOf(plain)).to.equal(undefined);
      expect(rateOf(plain, rated('one', tokenB, '50'))).to.equal(50);
      expect(rateOf(rated('one', tokenB, '50'), rated('two', tokenA, '7'))).to.equal(50);
      expect(rateOf(rated('one', tokenB, '0'), rated('two', tokenA, '7'))).to.equal(0);
      expect(rateOf(plain, { ...rated('one', tokenB, '50'), stringData: { password: tokenB } })).to.equal(undefined);
    });

    for (const wrong of ['fast', '-1', '1.5', '', 7]) {
      it(`refuses ${JSON.stringify(wrong)}, and takes the tokens`, () => {
        const one = rated('one', tokenA, wrong);
        expect(reasons(one)).to.deep.equal([`${rateAnnotation}: the value is not a whole number of events a second`]);
        expect(authenticateIn(setOf(one), tokenA)).to.include(acme);
        expect(rateOf(one)).to.equal(undefined);
      });
    }
  });

  it('refuses clear text under data instead of taking another token out of it', () => {
    const data = { token: 'my clear text token!' };
    expect(reasons({ metadata: { name: 'one', labels: { [label]: 'acme' } }, data })).to.deep.equal([
      'token: the value is not base64 (clear text belongs under stringData)',
    ]);
  });

  it('refuses a Secret without an organization and one without an entry for tokens', () => {
    const unlabelled = ['the organization label has no value'];
    expect(reasons({ metadata: { name: 'one' }, stringData: { token: tokenA } })).to.deep.equal(unlabelled);
    expect(reasons(secret('one', '', { token: tokenA }))).to.deep.equal(unlabelled);
    const without = ['the Secret has no entry that begins with "token", "sha256-", "read-", "ping-" or "manage-"'];
    expect(reasons(secret('one', 'acme', { password: tokenA }))).to.deep.equal(without);
    expect(reasons({ metadata: { name: 'one', labels: { [label]: 'acme' } }, data: null })).to.deep.equal(without);
  });

  it('refuses the token of two organizations for both, in clear or as a digest', () => {
    const secrets = [
      secret('one', 'acme', { 'token-1': tokenA, 'token-2': tokenB }),
      secret('two', 'globex', { 'sha256-1': digestOf(tokenA) }),
    ];
    expect(authenticateIn(setOf(...secrets), tokenA).status).to.equal('unknown');
    expect(authenticateIn(setOf(...secrets), tokenB)).to.include(acme);
    expect(reasons(...secrets)).to.deep.equal([
      'token-1: another organization has the same token, so both are refused (see Secret two)',
      'sha256-1: another organization has the same token, so both are refused (see Secret one)',
    ]);
  });

  it('names the organization by the label it is told', () => {
    const manifest = { metadata: { name: 'one', labels: { tenant: 'acme' } }, stringData: { token: tokenA } };
    expect(authenticateIn(tokenSetOf([manifest], 'tenant'), tokenA).status).to.equal('known');
  });

  it('is the same whatever the order of the Secrets, and no token has two organizations or two scopes', () => {
    const organizations = fc.constantFrom('acme', 'globex', 'initech');
    const tokens = fc.constantFrom(...Array.from({ length: 6 }, (_, index) => `token-number-${index}-long`));
    const held = fc.array(fc.tuple(fc.constantFrom('token', 'read'), tokens), { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(fc.array(fc.tuple(organizations, held), { maxLength: 8 }), fc.func(fc.integer()), (drawn, order) => {
        const secrets = drawn.map(([organization, tokens], index) => {
          const entries = tokens.map(([prefix, token], entry) => [`${prefix}-${entry}`, token]);
          return secret(`secret-${index}`, organization, Object.fromEntries(entries));
        });
        const set = setOf(...secrets);
        const shuffled = setOf(...secrets.toSorted((a, b) => order(a.metadata?.name) - order(b.metadata?.name)));
        expect(shuffled.tokens).to.deep.equal(set.tokens);
        expect(shuffled.refusals.map(explain)).to.have.members(set.refusals.map(explain));
        const uses = drawn.flatMap(([organization, held]) =>
          held.map(([prefix, token]) => ({ token, organization, scope: prefix === 'read' ? 'read' : 'write' })),
        );
        for (const [token, [first, ...others]] of Map.groupBy(uses, (use) => use.token)) {
          const agreed = others.every((other) => JSON.stringify(other) === JSON.stringify(first));
          const { organization, scope } = first ?? {};
          const expected = agreed ? { status: 'known', organization, scope } : { status: 'unknown' };
          expect(authenticateIn(set, token)).to.include(expected);
        }
      }),
    );
  });

  it('holds no token, only digests', () => {
    const set = setOf(secret('one', 'acme', { token: tokenA, 'token-2': 'short-secret' }));
    const everything = JSON.stringify([[...set.tokens], set.refusals, set.refusals.map(explain)]);
    expect(everything).not.to.contain(tokenA).and.not.to.contain('short-secret');
  });

  it('cannot tell before a set is loaded', () => {
    expect(authenticateIn(undefined, tokenA)).to.deep.equal({ status: 'not-loaded' });
  });
});
