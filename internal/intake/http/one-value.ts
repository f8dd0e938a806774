/** How Node joins a header that comes several times. */
const separator = ', ';

/**
 * The value of a header that came several times with the same value, or empty; any other header as
 * it is.
 */
export function oneValue(header: string): string {
  if (!header.includes(separator)) return header;
  const [value = '', ...more] = header.split(separator).filter((one) => one !== '');
  return more.every((one) => one === value) ? value : header;
}
