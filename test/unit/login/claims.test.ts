import { expect } from 'chai';
import { groupsOf, hasTooManyGroups, nameOf, subjectOf } from '../../../internal/login/claims.ts';

describe('claims of a person', () => {
  for (const [claims, claim, groups] of [
    [{ groups: ['a', 'b'] }, 'groups', ['a', 'b']],
    [{ groups: 'a' }, 'groups', ['a']],
    [{ groups: ['a', 1, null, {}] }, 'groups', ['a']],
    [{ groups: [] }, 'groups', []],
    [{}, 'groups', undefined],
    [{ groups: null }, 'groups', undefined],
    [{ realm_access: { roles: ['a'] } }, 'realm_access.roles', ['a']],
    [{ realm_access: 'x' }, 'realm_access.roles', undefined],
    [{ 'https://example.com/groups': ['a'] }, 'https://example.com/groups', ['a']],
    [{}, 'constructor.name', undefined],
  ] as const) {
    it(`have the groups ${JSON.stringify(groups)}: ${claim} of ${JSON.stringify(claims)}`, () => {
      expect(groupsOf(claims, claim)).to.deep.equal(groups);
    });
  }

  it('may leave out groups because there are too many', () => {
    expect(hasTooManyGroups({ hasgroups: true }, 'groups')).to.equal(true);
    expect(hasTooManyGroups({ hasgroups: 'true' }, 'groups')).to.equal(true);
    const elsewhere = { _claim_names: { groups: 'src1' }, _claim_sources: { src1: { endpoint: 'https://x.example' } } };
    expect(hasTooManyGroups(elsewhere, 'groups')).to.equal(true);
    expect(hasTooManyGroups(elsewhere, 'roles')).to.equal(false);
    expect(hasTooManyGroups({ groups: [], hasgroups: false }, 'groups')).to.equal(false);
  });

  it('have a name that Postgres can hold', () => {
    expect(nameOf({ sub: '1', email: 'a@x.example', name: ' ' })).to.equal('a@x.example');
    expect(nameOf({ sub: '1', preferred_username: 'a', email: 'a@x.example' })).to.equal('a');
    expect(nameOf({ name: 'a\0\uD800b' })).to.equal('a \uFFFDb');
    expect(nameOf({ name: 'a'.repeat(300) })).to.have.length(200);
    expect(nameOf({})).to.equal('');
  });

  it('have a name as a person sees it', () => {
    expect(nameOf({ name: 'Alice\r\n\u001b[31m\u202Eecilla\u2066' })).to.equal('Alice [31mecilla');
    expect(nameOf({ name: '\u202E\u0007', email: 'a@x.example' })).to.equal('a@x.example');
  });

  it('have a subject of OpenID Connect: at most 255 ASCII characters', () => {
    expect(subjectOf('https://x.example', { sub: 'a b' })).to.equal('https://x.example#a b');
    for (const sub of [undefined, '', 1, 'é', 'a\0', 'a'.repeat(256)])
      expect(subjectOf('i', { sub })).to.equal(undefined);
  });
});
