import { expect } from 'chai';
import { isIPv6 } from 'node:net';
import { forbiddenAddresses } from '../../../internal/controller/notify/forbidden-addresses.ts';

const isForbidden = (address: string, allowPrivate: boolean): boolean =>
  forbiddenAddresses(allowPrivate).check(address, isIPv6(address) ? 'ipv6' : 'ipv4');

const metadata = [
  '169.254.169.254',
  '100.100.100.200',
  '168.63.129.16',
  '192.0.0.192',
  'fd00:ec2::254',
  // Credentials of EKS' pods.
  'fd00:ec2::23',
  'fd20:ce::254',
  'fd00:c1::a9fe:a9fe',
  'fd00:42::42',
];

/** The IPv6 addresses that hold an IPv4 address, in each form that a translator takes. */
function embedded(address: string): string[] {
  const [a, b, c, d] = address.split('.').map((byte) => Number(byte).toString(16).padStart(2, '0'));
  return [
    `::${a}${b}:${c}${d}`,
    `::ffff:${a}${b}:${c}${d}`,
    `::ffff:0:${a}${b}:${c}${d}`,
    `64:ff9b::${address}`,
    `64:ff9b:1::${a}${b}:${c}${d}`,
    `64:ff9b:1:${a}${b}:${c}:${d}00::`,
    `64:ff9b:1:fe${a}:${b}:${c}${d}::`,
    `64:ff9b:1:fffe:${a}:${b}${c}:${d}00:0`,
    `64:ff9b:1:abcd:1:2:${a}${b}:${c}${d}`,
    `2002:${a}${b}:${c}${d}::`,
    `2002:${a}${b}:${c}${d}:1:2:3:4:5`,
  ];
}

const neverAllowed = [
  ...metadata,
  '0.0.0.0',
  '0.1.2.3',
  '169.254.0.1',
  '224.0.0.1',
  '239.255.255.250',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  'fe80::1',
  'ff02::1',
  // The same, as IPv6 addresses that hold an IPv4 address.
  '::ffff:169.254.169.254',
  '::ffff:a9fe:a9fe',
  '::ffff:0.0.0.0',
  // IPv4-compatible, translated, NAT64, 6to4, Teredo.
  ...metadata.filter((address) => !isIPv6(address)).flatMap(embedded),
  '64:ff9b::a9fe:1',
  '2002:a9fe:a9fe::1',
  '2001::1',
  '2001:0:a9fe:a9fe::1',
  '2001:0:c000:201::5601:5601',
];

const privateOnes = [
  '10.0.0.1',
  '10.255.255.255',
  '100.64.0.1',
  '127.0.0.1',
  '127.255.255.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.2.1',
  '192.88.99.1',
  '192.168.1.1',
  '198.18.0.1',
  '198.51.100.1',
  '203.0.113.1',
  '::1',
  '::ffff:127.0.0.1',
  '::ffff:7f00:1',
  '::ffff:10.0.0.1',
  // IPv4-compatible, translated, NAT64, discard-only.
  '::127.0.0.1',
  '::ffff:0:10.0.0.1',
  '64:ff9b::10.0.0.1',
  '64:ff9b:1::1',
  '100::1',
  'fc00::1',
  'fd12:3456:789a::1',
  'fec0::1',
  '64:ff9b:1::10.0.0.1',
  '64:ff9b:1:fffe:1:2:808:808',
  '64:ff9b::8.8.8.8',
  // Documentation, 6to4, a range that IANA has not given out.
  '2001:db8::1',
  '2002:7f00:1::',
  '3fff::1',
  '4000::1',
];

const publicOnes = [
  '1.1.1.1',
  '8.8.8.8',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '126.255.255.255',
  '128.0.0.0',
  '172.15.255.255',
  '172.32.0.0',
  '192.167.255.255',
  '192.169.0.0',
  '223.255.255.255',
  '::ffff:8.8.8.8',
  '2001:4860:4860::8888',
  '2606:4700:4700::1111',
  '2a00:1450:4001:81b::200e',
];

describe('the addresses of channels', () => {
  for (const address of neverAllowed) {
    it(`never include ${address}`, () => {
      expect([isForbidden(address, false), isForbidden(address, true)]).to.deep.equal([true, true]);
    });
  }

  for (const address of privateOnes) {
    it(`include ${address} only where private ones are allowed`, () => {
      expect([isForbidden(address, false), isForbidden(address, true)]).to.deep.equal([true, false]);
    });
  }

  for (const address of publicOnes) {
    it(`include ${address}`, () => {
      expect([isForbidden(address, false), isForbidden(address, true)]).to.deep.equal([false, false]);
    });
  }
});
