import { expect } from 'chai';
import { createOrganizationLabel } from '../../../internal/kit/telemetry/organization-label.ts';

describe('the label organization', () => {
  it('names the first organizations and counts the rest together', () => {
    const label = createOrganizationLabel(2);
    expect(['a', 'b', 'c', 'a', 'd', 'b'].map(label)).to.deep.equal(['a', 'b', 'other', 'a', 'other', 'b']);
  });

  it('is empty, and so absent, when it is switched off', () => {
    expect(createOrganizationLabel(0)('a')).to.equal('');
  });
});
