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
      expect(map.organizationsOf(groups, existing)).to.deep.equal(organizations);
      expect(map.known(groups).length > 0).to.equal(organizations.length > 0);
    });
  }

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
  ] as const) {
    it(`refuses ${JSON.stringify(text)}`, () => {
      expect(() => OrganizationMap.parse(text)).to.throw(fault);
    });
  }
});
