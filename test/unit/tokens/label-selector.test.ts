import { expect } from 'chai';
import { organizationLabelOf } from '../../../internal/cluster/tokens/label-selector.ts';

describe('organization label', () => {
  it('is the first key of the selector', () => {
    expect(organizationLabelOf('runledger.dev/organization')).to.equal('runledger.dev/organization');
    expect(organizationLabelOf('tenant=acme')).to.equal('tenant');
    expect(organizationLabelOf(' tenant in (acme, globex),stage!=test')).to.equal('tenant');
    expect(organizationLabelOf('example.org/tenant,stage=prod')).to.equal('example.org/tenant');
  });

  it('is missed in a selector that does not begin with a key', () => {
    for (const selector of ['', '!tenant', ',tenant']) {
      expect(() => organizationLabelOf(selector)).to.throw('must begin with the label that names the organization');
    }
  });
});
