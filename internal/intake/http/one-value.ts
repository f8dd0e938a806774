/** How Node joins the values of a repeated header. */
const separator = ', ';

/** Reduces a header repeated with one value to that value; returns any other as it is. */
export function oneValue(header: string): string {
  if (!header.includes(separator)) return header;
  const [value = '', ...more] = header.split(separator).filter((one) => one !== '');
  return more.every((one) => one === value) ? value : header;
}
