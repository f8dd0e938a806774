/** The 16 bytes of a valid IPv6 address in any spelling, without a zone such as `%eth0`. */
export function ipv6Bytes(address: string): Buffer {
  // The URL parser writes an address in its one canonical form, without dots.
  const short = new URL(`http://[${address.replace(/%.*$/, '')}]/`).hostname.slice(1, -1);
  const [before = [], after = []] = short.split('::').map((part) => part.split(':').filter((group) => group !== ''));
  const zeros = Array<string>(8 - before.length - after.length).fill('0');
  return Buffer.from([...before, ...zeros, ...after].map((group) => group.padStart(4, '0')).join(''), 'hex');
}
