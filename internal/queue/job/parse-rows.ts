/** Larger content is parsed row by row, as bytes. */
const large = 4 * 1_024 * 1_024;

const [quote, backslash, opening, closing] = Buffer.from('"\\[]');

/**
 * Parses the JSON array of a job. As one text, large content would take up to twice its bytes
 * beside the rows, so its rows are parsed one after another.
 * @throws when it is no array of arrays.
 */
export function parseRows(content: Buffer, largeFrom = large): unknown {
  return content.length < largeFrom ? JSON.parse(content.toString()) : [...rowsOf(content)];
}

/** Rows hold texts, numbers and null, so a bracket outside a text begins or ends a row. */
function* rowsOf(content: Buffer): Generator {
  let from = -1;
  for (let at = 1; at < content.length - 1; at += 1) {
    const byte = content[at];
    if (byte === quote) at = endOfText(content, at);
    else if (byte === opening) from = at;
    else if (byte === closing) yield JSON.parse(content.toString('utf8', from, at + 1));
  }
}

/** The index of the quote that ends the text whose first quote is at `begin`. */
function endOfText(content: Buffer, begin: number): number {
  let end = begin;
  do {
    end = content.indexOf('"', end + 1);
    if (end === -1) throw new Error('a text of the job does not end');
  } while (isEscaped(content, end));
  return end;
}

function isEscaped(content: Buffer, place: number): boolean {
  let first = place;
  while (content[first - 1] === backslash) first -= 1;
  return (place - first) % 2 === 1;
}
