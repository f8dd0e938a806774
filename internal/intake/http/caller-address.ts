import { isIPv6 } from 'node:net';
import type { Context } from 'koa';
import { ipv6Bytes } from '../../kit/http/ipv6-bytes.ts';

/** Groups of the prefix that one customer of a provider has: within it, another address is free. */
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
  const groups = ipv6Bytes(address).toString('hex').match(/.{4}/g) ?? [];
  return `${groups.slice(0, groupsOfCustomer).join(':')}::/64`;
}
