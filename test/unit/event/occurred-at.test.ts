import { expect } from 'chai';
import { timeOf } from '../../../internal/event/occurred-at.ts';

describe('times in RFC 3339', () => {
  const times = {
    '2026-01-31T08:00:00Z': '2026-01-31T08:00:00.000Z',
    '2026-01-31t08:00:00z': '2026-01-31T08:00:00.000Z',
    '2026-01-31T08:00:00.5+01:00': '2026-01-31T07:00:00.500Z',
    '2026-01-31T08:00:00.123456789-23:59': '2026-02-01T07:59:00.123Z',
    '2024-02-29T23:59:59-00:00': '2024-02-29T23:59:59.000Z',
  };
  for (const [text, time] of Object.entries(times)) {
    it(text, () => expect(timeOf(text)).to.equal(Date.parse(time)));
  }

  for (const text of [
    '2026-02-29T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-00-10T00:00:00Z',
    '2026-01-31T08:00:00+24:00',
  ]) {
    it(`not ${text}`, () => expect(timeOf(text)).to.equal(undefined));
  }
});
