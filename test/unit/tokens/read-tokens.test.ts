import { expect } from 'chai';
import { explain } from '../../../internal/cluster/tokens/secret-refusal.ts';
import type { SecretManifest } from '../../../internal/cluster/secret.ts';
import { digestOf } from '../../../internal/cluster/tokens/token-entry.ts';
import { tokenSetOf } from '../../../internal/cluster/tokens/token-set.ts';
import { authenticateIn } from '../../../internal/cluster/tokens/token-source.ts';

const label = 'runledger.dev/organization';
const [tokenA, tokenB] = ['aaaaaaaaaaaaaaaa-A', 'bbbbbbbbbbbbbbbb-B'];
const reading = { status: 'known', organization: 'acme', scope: 'read' };

function secret(name: string, organization: string, entries: Record<string, unknown>): SecretManifest {
  return { metadata: { name, labels: { [label]: organization } }, stringData: entries };
}

const setOf = (...secrets: SecretManifest[]) => tokenSetOf(secrets, label);
const reasons = (...secrets: SecretManifest[]): string[] => setOf(...secrets).refusals.map(explain);

describe('read tokens of a token set', () => {
  it('are kept apart from write tokens, and named by the beginning of their digest', () => {
    const set = setOf(secret('one', 'acme', { 'token-1': tokenA, 'read-1': tokenB }));
    expect(authenticateIn(set, tokenA)).to.include({ organization: 'acme', scope: 'write' });
    expect(authenticateIn(set, tokenB)).to.deep.equal({ ...reading, tokenId: digestOf(tokenB).slice(0, 12) });
  });

  for (const entries of [{ 'read-1': tokenA }, { 'read-sha256-1': digestOf(tokenA).toUpperCase() }]) {
    it(`are enough for a Secret: ${Object.keys(entries).join()}`, () => {
      const set = setOf(secret('one', 'acme', entries));
      expect(authenticateIn(set, tokenA)).to.include(reading);
      expect([set.organizations, set.refusals]).to.deep.equal([['acme'], []]);
    });
  }

  it('coexist with entries of a later release, which are ignored', () => {
    const later = {
      'admin-1': tokenB,
      'sha512-1': digestOf(tokenB),
      'Read-1': tokenB,
      'xread-1': tokenB,
      read: tokenB,
    };
    const set = setOf(secret('one', 'acme', { 'read-1': tokenA, ...later }));
    expect([...set.tokens.keys()]).to.deep.equal([digestOf(tokenA)]);
    expect(set.refusals).to.deep.equal([]);
  });

  it('are refused for both uses when they are write tokens too, in one Secret or in two', () => {
    const why = 'the same token is of two kinds, so both are refused';
    const inOne = secret('one', 'acme', { 'token-1': tokenA, 'read-sha256-1': digestOf(tokenA), 'read-2': tokenB });
    expect(reasons(inOne)).to.deep.equal([`token-1: ${why}`, `read-sha256-1: ${why}`]);
    expect(authenticateIn(setOf(inOne), tokenA).status).to.equal('unknown');
    expect(authenticateIn(setOf(inOne), tokenB)).to.include(reading);

    const inTwo = [secret('one', 'acme', { 'token-1': tokenA }), secret('two', 'acme', { 'read-1': tokenA })];
    expect(reasons(...inTwo)).to.deep.equal([`token-1: ${why} (see Secret two)`, `read-1: ${why} (see Secret one)`]);
    expect(authenticateIn(setOf(...inTwo), tokenA).status).to.equal('unknown');
  });

  it('are refused when another organization writes with them', () => {
    const secrets = [secret('one', 'acme', { 'read-1': tokenA }), secret('two', 'globex', { 'token-1': tokenA })];
    expect(authenticateIn(setOf(...secrets), tokenA).status).to.equal('unknown');
    expect(reasons(...secrets)).to.deep.equal([
      'read-1: another organization has the same token, so both are refused (see Secret two)',
      'token-1: another organization has the same token, so both are refused (see Secret one)',
    ]);
  });

  it('name their organization and scope', () => {
    expect(authenticateIn(setOf(secret('one', 'acme', { 'read-1': tokenA })), tokenA)).to.include(reading);
  });
});
