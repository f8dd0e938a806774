import { isIPv6 } from 'node:net';
import type { Context } from 'koa';

/** A prefix that one customer of a provider has: an address more costs nothing. */
const groupsOfCustomer = 4;

/**
 * Who a request counts for, where no token says so: the address that our proxy saw with
 * `trustProxy`, else that of the connection. IPv6 addresses count by their /64.
 */
export function callerAddress(ctx: Context, trustProxy: boolean): string {
  // Proxies append a value: our own proxy wrote the last one.
  const seen = trustProxy ? ctx.get('X-Forwarded-For').split(',').at(-1)?.trim() : undefined;
  const address = (seen === undefined || seen === '' ? ctx.req.socket.remoteAddress : seen) ?? '';
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '');
  return isIPv6(plain) ? networkOf(plain) : plain.slice(0, 64);
}

function networkOf(address: string): string {
  const [head = '', tail] = address.replace(/%.*$/, '').toLowerCase().split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? [] : Array<string>(Math.max(0, 8 - before.length - after.length)).fill('0');
  const groups = [...before, ...zeros, ...after].slice(0, groupsOfCustomer);
  return `${groups.map((group) => group.replace(/^0+(?=.)/, '')).join(':')}::/64`;
}
