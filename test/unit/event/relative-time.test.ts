import { expect } from 'chai';
import { relativeTime } from '../../../internal/event/relative-time.ts';

describe('times as people write them', () => {
  const now = new Date('2026-11-27T15:04:05.678Z');
  for (const [text, time] of [
    ['now', '2026-11-27T15:04:05.678Z'],
    ['today', '2026-11-27T00:00:00.000Z'],
    ['yesterday', '2026-11-26T00:00:00.000Z'],
    ['2026-02-28', '2026-02-28T00:00:00.000Z'],
    ['24h', '2026-11-26T15:04:05.678Z'],
    ['90m', '2026-11-27T13:34:05.678Z'],
    ['7d', '2026-11-20T15:04:05.678Z'],
    ['2w', '2026-11-13T15:04:05.678Z'],
    ['2026-02-29', undefined],
    ['2026-2-1', undefined],
    ['0000-01-01', undefined],
    ['999999w', undefined],
    ['1y', undefined],
    ['-1h', undefined],
    ['tomorrow', undefined],
    ['2026-11-27T00:00:00Z', undefined],
  ] as const) {
    it(`${text} is ${time ?? 'none of them'}`, () => {
      expect(relativeTime(text, now)?.toISOString()).to.equal(time);
    });
  }
});
