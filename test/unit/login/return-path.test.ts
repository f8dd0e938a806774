import { expect } from 'chai';
import { array, assert, constantFrom, oneof, property, string, webUrl } from 'fast-check';
import { returnAddress } from '../../../internal/login/return-path.ts';

const console = new URL('https://console.example');
const first = 'https://console.example/';

describe('the address after a login', () => {
  for (const to of ['/o/acme', '/o/acme/executions?state=failed&q=a%20b', '/?organization=acme', '/o/a%2Fb/errors']) {
    it(`is the page that was asked for: ${to}`, () => {
      expect(returnAddress(console, to)).to.equal(`https://console.example${to}`);
    });
  }

  for (const to of [
    undefined,
    '',
    'https://evil.example/',
    'HTTPS://evil.example/',
    '//evil.example/',
    '///evil.example/',
    '/\\evil.example/',
    '\\\\evil.example/',
    '/\t/evil.example/',
    '/\n/evil.example',
    ' //evil.example',
    '/.//evil.example',
    '/a/..//evil.example',
    '/%2e//evil.example',
    '/%09/evil.example\\',
    'javascript:alert(1)',
    'data:text/html,x',
    '@evil.example',
    '.evil.example',
    '/é',
    '/login?to=/o/acme',
    '/logout',
    '/once/x',
    `/${'a'.repeat(3_000)}`,
  ]) {
    it(`is the first page for ${JSON.stringify(to)?.slice(0, 60)}`, () => {
      expect(returnAddress(console, to)).to.equal(first);
    });
  }

  it('keeps an encoded address a part of the path', () => {
    for (const to of ['/%2F%2Fevil.example', '/%5Cevil.example', '/o/acme?next=//evil.example']) {
      expect(new URL(returnAddress(console, to)).origin).to.equal('https://console.example');
    }
  });

  it('has the origin of the console, whatever is asked for', () => {
    const part = oneof(constantFrom('/', '\\', '.', '..', '%2f', '@', ':', '?', '#', '//', '\t'), webUrl(), string());
    assert(
      property(array(part), (parts) => {
        const address = returnAddress(console, parts.join(''));
        expect(new URL(address).origin).to.equal('https://console.example');
        // Read as a path only, it leads to the same host.
        expect(new URL(address.slice(console.origin.length), console.href).origin).to.equal('https://console.example');
      }),
    );
  });

  it('is under the path of CONSOLE_PUBLIC_URL', () => {
    const below = new URL('https://example.com/record/');
    expect(returnAddress(below, undefined)).to.equal('https://example.com/record/');
    expect(returnAddress(below, '/o/acme')).to.equal('https://example.com/record/o/acme');
    expect(returnAddress(below, '/record/o/acme')).to.equal('https://example.com/record/o/acme');
    expect(returnAddress(below, '/record//evil.example')).to.equal('https://example.com/record/');
  });
});
