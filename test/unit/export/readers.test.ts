import { expect } from 'chai';
import * as fc from 'fast-check';
import { linesOf } from '../../../internal/record/audit/exported-lines.ts';
import { exportFormats, formatNames, type FormatName } from '../../../internal/record/formats/formats.ts';
import { optionalFields, type RecordedTexts } from '../../../internal/event/fields.ts';
import type { ProvenEvent } from '../../../internal/record/stored-event.ts';
import { testFiles } from '../../support/test-files.ts';

/** An event whose texts are all the same, without a time of its own. */
function eventWith(text: string, occurred_at: string | null = null): ProvenEvent {
  return {
    id: '0190a0b0-0000-7000-8000-000000000001',
    automation: '0190A0B0-0000-7000-8000-000000000001',
    execution_id: text,
    type_of_event: 'ERROR',
    ...(Object.fromEntries(optionalFields.map(({ recorded }) => [recorded, text])) as RecordedTexts),
    salt: '0a'.repeat(16),
    texts_digest: '0b'.repeat(32),
    occurred_at,
    created_at: '2026-11-21T10:00:00.000Z',
  };
}

/** Every character that ingest accepts: all but NUL and halves of surrogate pairs. */
function everyCharacter(): string[] {
  const points = Array.from({ length: 0x110000 - 1 }, (_, at) => at + 1);
  return points.filter((point) => point < 0xd800 || point > 0xdfff).map((point) => String.fromCodePoint(point));
}

/** Those that a reader of text may take for more than a character of it. */
const special = /[^\p{L}\p{N}\p{Co}\p{Cn}\p{So}]/u;

describe('the files of an export', () => {
  const files = testFiles();

  async function readBack(format: FormatName, events: readonly ProvenEvent[]): Promise<unknown[]> {
    const encoder = exportFormats[format].begin(false);
    const pieces = [encoder.add(events), encoder.end()].map((piece) => Buffer.from(piece));
    const path = await files.write(`events.${format}`, Buffer.concat(pieces));
    const read: unknown[] = [];
    for await (const line of linesOf(path)) read.push(JSON.parse(line));
    return read;
  }

  for (const format of formatNames) {
    it(`give back every character that a caller can send, in ${format}`, async () => {
      const all = everyCharacter();
      const rows = Array.from({ length: Math.ceil(all.length / 1_000) }, (_, at) =>
        eventWith(all.slice(at * 1_000, (at + 1) * 1_000).join('a')),
      );
      const first = all.filter((character) => special.test(character));
      const events = [
        ...rows,
        ...first.flatMap((one) => [eventWith(one), eventWith(`${one}=x`), eventWith(`x${one}`)]),
      ];
      const read = await readBack(format, events);
      expect(read).to.have.lengthOf(events.length);
      // To compare all at once would print all.
      for (const [at, event] of events.entries()) expect(read[at]).to.deep.equal(event);
    });

    it(`give back any mix of them, in ${format}`, async () => {
      const mark = fc.constantFrom("'", '=', '"', ',', '\r', '\n', '\t', '\u2028', '\u2029', '\u0085', '\ufeff', '\\');
      const text = fc
        .string({ unit: fc.oneof(mark, fc.string({ unit: 'binary', minLength: 1, maxLength: 1 })), maxLength: 6 })
        .map((one) => one.replaceAll('\0', ''));
      const time = fc.constantFrom(null, '2026-11-21T09:59:59.999Z');
      await fc.assert(
        fc.asyncProperty(fc.array(fc.tuple(text, time), { minLength: 1, maxLength: 9 }), async (given) => {
          const events = given.map(([one, at]) => eventWith(one, at));
          expect(await readBack(format, events)).to.deep.equal(events);
        }),
      );
    });
  }
});
