import { expect } from 'chai';
import { parseSecrets } from '../../../internal/cluster/tokens/manifest-file.ts';
import { addToken, createToken, secretManifest, tokenEntry } from '../../../internal/cluster/tokens/manifest.ts';
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

  it('adds a token next to the others, under the next number', () => {
    const [first, second, third] = [createToken(), createToken(), createToken()];
    const created = only(secretManifest({ organization: 'acme', entries: tokenEntry({ token: first }, 1) }));
    const rotated = only(addToken(created, { token: second }));
    const again = only(addToken(rotated, { token: third, form: 'sha256' }));
    expect(Object.keys(again.data ?? {})).to.deep.equal(['token-1', 'token-2', 'sha256-3']);
    expect(tokenSetOf([again], label).tokens.size).to.equal(3);
  });

  it('adds read tokens next to the others, under the next number', () => {
    const created = only(secretManifest({ organization: 'acme', entries: tokenEntry({ token: createToken() }, 1) }));
    const [clear, digested] = [createToken('read'), createToken('read')];
    for (const token of [clear, digested]) expect(token).to.match(/^rlr_[\w-]{43}$/);
    const rotated = only(addToken(created, { token: clear, scope: 'read' }));
    const again = only(addToken(rotated, { token: digested, scope: 'read', form: 'sha256' }));
    const last = only(addToken(again, { token: createToken() }));
    expect(Object.keys(last.data ?? {})).to.deep.equal(['token-1', 'read-2', 'read-sha256-3', 'token-4']);
    const { tokens } = tokenSetOf([last], label);
    for (const token of [clear, digested]) expect(tokens.get(digestOf(token))).to.include({ scope: 'read' });
  });

  it('names the Secret of a read token apart from every Secret of write tokens', () => {
    const nameOf = (organization: string, scope?: 'read') =>
      only(secretManifest({ organization, scope, entries: {} })).metadata?.name;
    expect(nameOf('acme', 'read')).to.equal('runledger-acme.read');
    expect(nameOf('acme.read')).to.match(/^runledger-acme-read-[0-9a-f]{8}$/);
  });

  it('keeps what people wrote and drops what the API server added', () => {
    const live = {
      metadata: {
        name: 'one',
        namespace: 'tokens',
        uid: 'u',
        resourceVersion: '7',
        labels: { [label]: 'acme', team: 'rpa' },
        annotations: { 'kubectl.kubernetes.io/last-applied-configuration': '{}', owner: 'jane' },
      },
      type: 'example.org/tokens',
      data: { binary: '/w==' },
      stringData: { note: 'hello' },
    };
    const token = createToken();
    const secret = only(addToken(live, { token }));
    expect(secret).to.deep.include({
      metadata: {
        name: 'one',
        namespace: 'tokens',
        labels: { [label]: 'acme', team: 'rpa' },
        annotations: { owner: 'jane' },
      },
      type: 'example.org/tokens',
      data: { binary: '/w==', note: 'aGVsbG8=', 'token-1': Buffer.from(token).toString('base64') },
    });
  });
});
