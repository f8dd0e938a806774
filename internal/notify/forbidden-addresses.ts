import { BlockList } from 'node:net';

type Subnet = readonly [address: string, prefix: number];

/**
 * Addresses that no webhook may have: this host, services of cloud providers that hand out
 * credentials, multicast and reserved addresses.
 */
const never: readonly Subnet[] = [
  ['0.0.0.0', 8],
  // Link-local, with the metadata of most clouds.
  ['169.254.0.0', 16],
  // Alibaba Cloud, Azure and Oracle Cloud have their own addresses for it.
  ['100.100.100.200', 32],
  ['168.63.129.16', 32],
  ['192.0.0.192', 32],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
];

const never6: readonly Subnet[] = [
  ['::', 128],
  ['fe80::', 10],
  ['ff00::', 8],
  // Metadata of AWS.
  ['fd00:ec2::254', 128],
];

/**
 * Addresses that are not on the public internet: the special-purpose registries of IANA
 * (https://www.iana.org/assignments/iana-ipv4-special-registry).
 */
const notPublic: readonly Subnet[] = [
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
];

/** Only 2000::/3 is public; within it these are not, or they hold an IPv4 address. */
const notPublic6: readonly Subnet[] = [
  ['4000::', 2],
  ['8000::', 1],
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
];

/** The part of ::/3 beside ::ffff:0:0/96, which Node compares as IPv4 addresses. */
const notPublicRanges6 = [
  ['::', '::fffe:ffff:ffff'],
  ['::1:0:0:0', '1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
] as const;

/**
 * The addresses that webhooks must not connect to. With `allowPrivate` they may connect to private
 * networks and to this host, and still not to metadata services of cloud providers.
 */
export function forbiddenAddresses(allowPrivate: boolean): BlockList {
  const list = new BlockList();
  for (const [address, prefix] of allowPrivate ? never : [...never, ...notPublic]) list.addSubnet(address, prefix);
  for (const [address, prefix] of allowPrivate ? never6 : [...never6, ...notPublic6]) {
    list.addSubnet(address, prefix, 'ipv6');
  }
  if (!allowPrivate) for (const [from, to] of notPublicRanges6) list.addRange(from, to, 'ipv6');
  return list;
}
