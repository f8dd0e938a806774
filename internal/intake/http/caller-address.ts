import { isIPv6 } from 'node:net';
import type { Context } from 'koa';
import { ipv6Bytes } from '../../kit/http/ipv6-bytes.ts';

/** Groups in the prefix of one provider's customer, who may use any address within it. */
const groupsOfCustomer = 4;

/**
 * Identifies a caller without a token: by the address that our proxy saw with `trustProxy`,
 * otherwise by that of the connection. IPv6 addresses count by their /64.
 */
export function callerAddress(ctx: Context, trustProxy: boolean): string {
  // Proxies append a value, so our own proxy wrote the last one.
  const seen = trustProxy ? ctx.get('X-Forwarded-For').split(',').at(-1)?.trim() : undefined;
  const address = (seen === undefined || seen === '' ? ctx.req.socket.remoteAddress : seen) ?? '';
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '');
  return isIPv6(plain) ? networkOf(plain) : plain.slice(0, 64);
}

function networkOf(address: string): string {
  const groups = ipv6Bytes(address).toString('hex').match(/.{4}/g) ?? [];
  return `${groups.slice(0, groupsOfCustomer).join(':')}::/64`;
}
