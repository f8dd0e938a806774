import { expect } from 'chai';
import { parseSecrets } from '../../../internal/cluster/tokens/manifest-file.ts';
import { createToken, secretManifest, tokenEntry } from '../../../internal/cluster/tokens/manifest.ts';
import type { SecretManifest } from '../../../internal/cluster/secret.ts';
import { digestOf } from '../../../internal/cluster/tokens/token-entry.ts';
import { tokenSetOf } from '../../../internal/cluster/tokens/token-set.ts';

const label = 'runledger.dev/organization';

function only(yaml: string): SecretManifest {
  const [secret] = parseSecrets(yaml, 'test');
  if (secret === undefined) throw new Error('no Secret');
  return secret;
}

describe('token manifest', () => {
  it('makes tokens that differ, that fit a header, and that a scanner can find', () => {
    const tokens = Array.from({ length: 100 }, createToken);
    expect(new Set(tokens).size).to.equal(100);
    for (const token of tokens) expect(token).to.match(/^rl_[\w-]{43}$/);
  });

  it('names the Secrets of organizations apart that differ only in case or punctuation', () => {
    const names = ['Acme', 'acme', 'acme_1', 'acme.1', 'acme-1'].map(
      (organization) => only(secretManifest({ organization, entries: {} })).metadata?.name,
    );
    expect(new Set(names).size).to.equal(5);
    for (const name of names) expect(name).to.match(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/);
  });

  it('refuses an organization that cannot be a label', () => {
    for (const organization of ['', 'a b', '-a', 'a_', 'x'.repeat(64), 'é']) {
      expect(() => secretManifest({ organization, entries: {} })).to.throw('organization must be 1 to 63 letters');
    }
  });

  it('holds the digest of a token in an entry that its fingerprint names', () => {
    for (const scope of ['write', 'read', 'ping'] as const) {
      const [token, other] = [createToken(scope), createToken(scope)];
      const entries = { ...tokenEntry(token), ...tokenEntry(other), ...tokenEntry(token) };
      expect(Object.keys(entries)).to.have.length(2);
      expect(Object.keys(entries)[0]).to.match(new RegExp(`sha256-${digestOf(token).slice(0, 12)}$`));
      const { tokens } = tokenSetOf([only(secretManifest({ organization: 'acme', scope, entries }))], label);
      expect(tokens.get(digestOf(token))).to.include({ scope, organization: 'acme' });
      expect(tokens.get(digestOf(other))).to.include({ scope });
    }
  });

  it('names the Secret of a read token apart from every Secret of write tokens', () => {
    const nameOf = (organization: string, scope?: 'read') =>
      only(secretManifest({ organization, scope, entries: {} })).metadata?.name;
    expect(nameOf('acme', 'read')).to.equal('runledger-acme.read');
    expect(nameOf('acme.read')).to.match(/^runledger-acme-read-[0-9a-f]{8}$/);
  });
});
