/**
 * The value of a header that came several times with the same value, which Node joins by commas;
 * any other header as it is.
 */
export function oneValue(header: string): string {
  if (!header.includes(',')) return header;
  const [value = '', ...more] = header
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '');
  return more.every((one) => one === value) ? value : header;
}
