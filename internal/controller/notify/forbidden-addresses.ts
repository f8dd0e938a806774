import { BlockList, type IPVersion, type SocketAddress } from 'node:net';
import { ipv6Bytes } from '../../kit/http/ipv6-bytes.ts';

type Subnet = readonly [address: string, prefix: number];

/** Services of cloud providers that hand out credentials. */
const metadata: readonly Subnet[] = [
  // Link-local, with the metadata of most clouds.
  ['169.254.0.0', 16],
  // The metadata services of Alibaba Cloud, Azure and Oracle Cloud.
  ['100.100.100.200', 32],
  ['168.63.129.16', 32],
  ['192.0.0.192', 32],
];

/** Addresses that are always forbidden: this host, metadata, multicast and reserved addresses. */
const never: readonly Subnet[] = [['0.0.0.0', 8], ...metadata, ['224.0.0.0', 4], ['240.0.0.0', 4]];

const never6: readonly Subnet[] = [
  ['::', 128],
  ['fe80::', 10],
  ['ff00::', 8],
  // Metadata and credentials of AWS, Google Cloud, Oracle Cloud and Scaleway.
  ['fd00:ec2::', 32],
  ['fd20:ce::254', 128],
  ['fd00:c1::a9fe:a9fe', 128],
  ['fd00:42::42', 128],
  // Teredo: the embedded IPv4 address is masked, and no private host has such an address.
  ['2001::', 32],
];

/** Where an IPv6 address of the prefix may hold the four bytes of an IPv4 address. */
interface Embedding {
  prefix: Subnet;
  places: readonly (readonly [number, number, number, number])[];
}

const lastFour = [12, 13, 14, 15] as const;

const embeddings: readonly Embedding[] = [
  // IPv4-compatible; translated; NAT64.
  { prefix: ['::', 96], places: [lastFour] },
  { prefix: ['::ffff:0:0:0', 96], places: [lastFour] },
  { prefix: ['64:ff9b::', 96], places: [lastFour] },
  // NAT64 with a local prefix of 48, 56, 64 or 96 bits (RFC 6052, section 2.2).
  { prefix: ['64:ff9b:1::', 48], places: [[6, 7, 9, 10], [7, 9, 10, 11], [9, 10, 11, 12], lastFour] },
  // 6to4.
  { prefix: ['2002::', 16], places: [[2, 3, 4, 5]] },
];

/**
 * Addresses that are not on the public internet: IANA's special-purpose registry
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

/** Parts of 2000::/3, the only public range, that are not public or embed an IPv4 address. */
const notPublic6: readonly Subnet[] = [
  ['4000::', 2],
  ['8000::', 1],
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
];

/** The part of ::/3 except ::ffff:0:0/96, which Node compares as IPv4 addresses. */
const notPublicRanges6 = [
  ['::', '::fffe:ffff:ffff'],
  ['::1:0:0:0', '1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
] as const;

/** Also refuses IPv6 addresses that lead to the metadata service of an IPv4 address. */
class ForbiddenAddresses extends BlockList {
  readonly #metadata = listOf(metadata, 'ipv4');
  readonly #embeddings = embeddings.map(({ prefix, places }) => ({ within: listOf([prefix], 'ipv6'), places }));

  override check(address: SocketAddress | string, type?: IPVersion): boolean {
    const [text, family] = typeof address === 'string' ? [address, type] : [address.address, address.family];
    return super.check(text, family) || (family === 'ipv6' && this.#leadsToMetadata(text));
  }

  #leadsToMetadata(address: string): boolean {
    const found = this.#embeddings.filter(({ within }) => within.check(address, 'ipv6'));
    const bytes = found.length === 0 ? undefined : ipv6Bytes(address);
    const held = found.flatMap(({ places }) => places.map((place) => place.map((at) => bytes?.[at] ?? 0).join('.')));
    return held.some((ipv4) => this.#metadata.check(ipv4, 'ipv4'));
  }
}

function listOf(subnets: readonly Subnet[], type: IPVersion): BlockList {
  const list = new BlockList();
  for (const [address, prefix] of subnets) list.addSubnet(address, prefix, type);
  return list;
}

/**
 * The addresses that channels must not connect to. `allowPrivate` permits private networks and this
 * host, but still no metadata service of a cloud provider, whatever address leads there.
 */
export function forbiddenAddresses(allowPrivate: boolean): BlockList {
  const list = new ForbiddenAddresses();
  for (const [address, prefix] of allowPrivate ? never : [...never, ...notPublic]) list.addSubnet(address, prefix);
  for (const [address, prefix] of allowPrivate ? never6 : [...never6, ...notPublic6]) {
    list.addSubnet(address, prefix, 'ipv6');
  }
  if (!allowPrivate) for (const [from, to] of notPublicRanges6) list.addRange(from, to, 'ipv6');
  return list;
}
