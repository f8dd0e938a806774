/**
 * Joins the elements of a JSON list, given as bytes. Bytes are joined, not texts: V8 would copy
 * each text once more, and the garbage of large ones is collected in pauses.
 */
export function joinList(elements: readonly Buffer[]): Buffer {
  const comma = Buffer.from(',');
  const parts = elements.flatMap((element, index) => (index === 0 ? [element] : [comma, element]));
  return Buffer.concat([Buffer.from('['), ...parts, Buffer.from(']')]);
}
