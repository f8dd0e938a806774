import { expect } from 'chai';
import { contentOf } from '../../../internal/controller/declarations/file-content.ts';

const automationId = '0190a0b0-0000-7000-8000-000000000001';
const automation = (name: string) => `
apiVersion: runledger.dev/v1beta1
kind: Automation
metadata: { name: ${name} }
spec: { automationId: ${automationId}, displayName: ${name} }
`;
const namespace = `
apiVersion: v1
kind: Namespace
metadata: { name: default, labels: { runledger.dev/organization: acme } }
`;

describe('a file of declarations', () => {
  it('turns the defaults of an organization off by one line', () => {
    const off = namespace.replace('labels:', "annotations: { runledger.dev/defaults: 'off' }, labels:");
    expect(contentOf(off, 'automations.yaml').declarations.silent).to.deep.equal(['acme']);
    expect(contentOf(namespace, 'automations.yaml').declarations.silent).to.deep.equal([]);
  });

  it('counts the first of two declarations of an automation, and refuses the second by name', () => {
    const text = [namespace, automation('zebra'), automation('aardvark')].join('---');
    const { declarations, acceptances } = contentOf(text, 'automations.yaml');
    expect(declarations.automations.map(({ name, note }) => [name, note])).to.deep.equal([
      ['zebra', 'default/aardvark declares this automationId too, and is refused.'],
    ]);
    expect(
      acceptances.map(({ manifest, accepted, message }) => [manifest.metadata?.name, accepted, message]),
    ).to.deep.equal([
      ['zebra', true, 'declared for organization acme'],
      ['aardvark', false, 'default/zebra declared this automationId of the organization before'],
    ]);
  });

  it('takes ten signing keys of a channel, and refuses an eleventh by what the Secret says', () => {
    const webhook = `
apiVersion: runledger.dev/v1beta1
kind: Channel
metadata: { name: incidents }
spec: { type: webhook, url: https://hooks.example/, secretRef: { name: keys } }
`;
    const keys = (count: number) =>
      Array.from(
        { length: count },
        (_, index) => `secret-${index}: whsec_${Buffer.alloc(24, index).toString('base64')}`,
      );
    const secret = (count: number) => `
apiVersion: v1
kind: Secret
metadata: { name: keys }
stringData: { ${keys(count).join(', ')} }
`;
    const acceptanceOf = (count: number) =>
      contentOf([namespace, webhook, secret(count)].join('---'), 'automations.yaml').acceptances.at(0);
    expect(acceptanceOf(10)).to.include({ accepted: true });
    expect(acceptanceOf(11)).to.include({
      reason: 'InvalidSecret',
      message: 'Secret keys: the Secret has more than 10 entries whose names begin with "secret"',
    });
  });
});
