/** The UTF-8 byte order mark, which some programs put before a text. */
const mark = Buffer.from('\uFEFF');

/** The bytes of a text, without its byte order mark. */
export function withoutMark(bytes: Buffer): Buffer {
  return bytes[0] === mark[0] && mark.equals(bytes.subarray(0, mark.length)) ? bytes.subarray(mark.length) : bytes;
}

/** A text, without its byte order mark. */
export function textWithoutMark(text: string): string {
  return text.startsWith('\uFEFF') ? text.slice(1) : text;
}
