import { expect } from 'chai';
import { parseSecrets } from '../../../internal/cluster/tokens/manifest-file.ts';

const secret = (name: string): string => `kind: Secret\nmetadata: { name: ${name} }\n`;

describe('manifest file', () => {
  it('gives the Secrets of several documents and of a List, and passes other kinds over', () => {
    const text = `---\n${secret('one')}---\nkind: Namespace\nmetadata: { name: tokens }\n---\n---
kind: List\nitems: [{ kind: Secret, metadata: { name: two } }, { kind: ConfigMap }]\n`;
    expect(parseSecrets(text, 'file').map(({ metadata }) => metadata?.name)).to.deep.equal(['one', 'two']);
  });

  it('is empty for an empty file', () => {
    expect(parseSecrets('', 'file')).to.deep.equal([]);
  });

  it('says where the YAML is wrong and quotes none of it', () => {
    const text = `${secret('one')}stringData:\n  token: "very-secret-token\n  more: x`;
    expect(() => parseSecrets(text, '/etc/tokens.yaml'))
      .to.throw(/^\/etc\/tokens.yaml: line \d+, column \d+: not valid YAML \([A-Z_]+\)$/)
      .and.property('message')
      .not.contain('very-secret');
  });

  it('says which part of a manifest has the wrong shape', () => {
    const cases = {
      'just text': 'file: every document must be a Kubernetes manifest with a kind',
      '[1, 2]': 'file: every document must be a Kubernetes manifest with a kind',
      'kind: Secret': 'file: a Secret has no metadata.name',
      'kind: Secret\nmetadata: { name: one, labels: x }': 'file: Secret one: metadata.labels must be a mapping',
      'kind: Secret\nmetadata: { name: one }\ndata: [x]': 'file: Secret one: data must be a mapping',
      'kind: Secret\nmetadata: { name: one }\nstringData: x': 'file: Secret one: stringData must be a mapping',
    };
    for (const [text, message] of Object.entries(cases)) {
      expect(() => parseSecrets(text, 'file'), text).to.throw(message);
    }
  });
});
