import { expect } from 'chai';
import { foreignTime } from '../../../internal/event/foreign-time.ts';

const now = Date.parse('2026-11-27T08:00:00Z');
const day = 86_400_000;

describe('times that other programs write', () => {
  const instants = {
    '2026-11-27T07:12:19.829392': '2026-11-27T07:12:19.829392Z',
    '2026-11-27 07:12:19': '2026-11-27T07:12:19Z',
    '2026-11-27T07:12:19.500Z': '2026-11-27T07:12:19.5Z',
    '2026-11-27t07:12:19,5z': '2026-11-27T07:12:19.5Z',
    '2026-11-27T08:12:19.000000+01:00': '2026-11-27T07:12:19Z',
    '2026-11-27T01:42:19-0530': '2026-11-27T07:12:19Z',
    '2026-11-27T07:12:19+00': '2026-11-27T07:12:19Z',
  };
  for (const [text, instant] of Object.entries(instants)) {
    it(`${text} is ${instant}`, () => expect(foreignTime(text, now)).to.deep.equal({ instant, occurredAt: instant }));
  }

  for (const text of [
    '',
    'today',
    '2026-11-27',
    '2026-11-27T24:00:00',
    '2026-02-29T07:00:00',
    '2026-11-27T07:12:19+25',
  ]) {
    it(`'${text}' is none`, () => expect(foreignTime(text, now)).to.equal(undefined));
  }

  for (const time of [now - 91 * day, now + 6 * 60_000]) {
    const text = new Date(time).toISOString();
    it(`${text} cannot be when it happened, so the time of acceptance is recorded`, () => {
      expect(foreignTime(text, now)).to.deep.equal({ instant: text.replace('.000Z', 'Z'), occurredAt: null });
    });
  }
});
