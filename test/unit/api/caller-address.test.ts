import type { Context } from 'koa';
import { expect } from 'chai';
import { callerAddress } from '../../../internal/intake/http/caller-address.ts';

/** The address that counts, of a connection and of what proxies say. */
function of(remoteAddress: string, forwarded: string, trustProxy: boolean): string {
  const ctx = { get: () => forwarded, req: { socket: { remoteAddress } } } as unknown as Context;
  return callerAddress(ctx, trustProxy);
}

describe('the address of a caller', () => {
  it('is that of the connection, unless a proxy is trusted', () => {
    expect(of('192.0.2.1', '192.0.2.9', false)).to.equal('192.0.2.1');
    expect(of('192.0.2.1', '', true)).to.equal('192.0.2.1');
  });

  it('is what the nearest proxy has seen', () => {
    expect(of('10.0.0.1', '203.0.113.7, 192.0.2.9', true)).to.equal('192.0.2.9');
  });

  it('is the /64 of an IPv6 address', () => {
    const one = of('2001:db8:0:1::1', '', false);
    expect(one).to.equal('2001:0db8:0000:0001::/64');
    expect(of('2001:0db8::1:ffff:ffff:ffff:ffff', '', false)).to.equal(one);
    expect(of('2001:db8:0:2::1', '', false)).to.not.equal(one);
    expect(of('::1', '', false)).to.equal('0000:0000:0000:0000::/64');
  });

  it('is the same for an IPv4 address in IPv6 form', () => {
    expect(of('::ffff:192.0.2.1', '', false)).to.equal('192.0.2.1');
  });
});
