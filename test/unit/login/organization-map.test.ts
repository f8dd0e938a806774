import { expect } from 'chai';
import { OrganizationMap } from '../../../internal/login/organization-map.ts';

const existing = () => ['acme', 'globex', 'initech'];

describe('groups and organizations', () => {
  const map = OrganizationMap.parse(`
    billing: acme
    audit: [globex, acme]
    platform: '*'
    hasOwnProperty: initech
  `);

  for (const [groups, organizations] of [
    [[], []],
    [['chess', 'constructor', '__proto__', '*', 'BILLING', 'billing '], []],
    [['billing'], ['acme']],
    [
      ['audit', 'billing'],
      ['acme', 'globex'],
    ],
    [['hasOwnProperty'], ['initech']],
    [['platform'], ['acme', 'globex', 'initech']],
  ] as const) {
    it(`leads [${groups.join(', ')}] to [${organizations.join(', ')}]`, () => {
      expect(map.rightsOf(groups, existing)).to.deep.equal({ organizations, owned: [], administers: false });
      expect(map.known(groups).length > 0).to.equal(organizations.length > 0);
    });
  }

  it('makes owners of those with the role, and administrators of the owners of all organizations', () => {
    const roles = OrganizationMap.parse(`
      ops: { organization: acme, role: owner }
      both: [globex, { organization: acme, role: owner }]
      look: { organization: acme, role: reader }
      platform: { organization: '*', role: owner }
    `);
    const rights = (...groups: string[]) => roles.rightsOf(groups, existing);
    expect(rights('ops')).to.deep.equal({ organizations: ['acme'], owned: ['acme'], administers: false });
    expect(rights('both')).to.deep.equal({ organizations: ['acme', 'globex'], owned: ['acme'], administers: false });
    expect(rights('look')).to.deep.equal({ organizations: ['acme'], owned: [], administers: false });
    expect(rights('platform')).to.deep.equal({ organizations: existing(), owned: existing(), administers: true });
    expect(roles.isOwner(['ops'], 'acme')).to.equal(true);
    for (const [groups, organization] of [
      [['ops'], 'globex'],
      [['look'], 'acme'],
      [[], 'acme'],
      [['both'], 'globex'],
      [['ops'], '*'],
    ] as const) {
      expect(roles.isOwner(groups, organization), `${groups.join()} ${organization}`).to.equal(false);
    }
    expect(roles.isOwner(['platform'], 'new'), 'an organization that is not there yet').to.equal(true);
    expect(roles.isOwner(['platform'], '')).to.equal(false);
  });

  for (const [text, fault] of [
    ['', 'must be a mapping in YAML from groups to organizations'],
    ['acme', 'must be a mapping in YAML'],
    ['[acme]', 'must be a mapping in YAML'],
    ['{}', 'maps no group'],
    ['billing: [acme', 'is not valid YAML at line 1'],
    ['billing: acme\nbilling: globex', 'is not valid YAML at line 2'],
    ['billing:', 'must give the group billing an organization'],
    ['billing: []', 'must give the group billing an organization'],
    ['billing: [1]', 'must give the group billing an organization'],
    ['billing: *', 'is not valid YAML'],
    ['billing: {acme: true}', 'must give the group billing an organization'],
    ['billing: {organization: acme}', 'must give the group billing an organization'],
    ['billing: {organization: acme, role: admin}', 'must give the group billing an organization'],
    ['billing: {organization: acme, role: owner, more: 1}', 'must give the group billing an organization'],
  ] as const) {
    it(`refuses ${JSON.stringify(text)}`, () => {
      expect(() => OrganizationMap.parse(text)).to.throw(fault);
    });
  }
});
