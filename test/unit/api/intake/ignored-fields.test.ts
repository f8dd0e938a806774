import { expect } from 'chai';
import { ignoredFields, IgnoredFields } from '../../../../internal/intake/bodies/ignored-fields.ts';
import type { EventRequest } from '../../../../internal/event/schema.ts';

const event: EventRequest = { automation_id: 'a', execution_id: 'b', event: 'ERROR' };

describe('the fields that are ignored', () => {
  it('are those that no event has, and a second text under the name of the answer', () => {
    for (const [more, names] of [
      [{ description: 'x', error_id: null, occurred_at: null }, undefined],
      [{ idempotency_key: 'k', created_at: 'now' }, ['idempotency_key', 'created_at']],
      [{ error_description_detail: 'x' }, undefined],
      [{ error_description: null, error_description_detail: 'x' }, undefined],
      [{ error_description: 'x', error_description_detail: 'x' }, undefined],
      [{ error_description: '', error_description_detail: 'x' }, ['error_description_detail']],
    ] as const) {
      expect(ignoredFields({ ...event, ...more })).to.deep.equal(names);
    }
  });

  it('are named in a header that is short and in visible ASCII, whatever their names are', () => {
    const fields = new IgnoredFields();
    expect(fields.header).to.equal(undefined);
    fields.add('/7', ['\u{1F680}'.repeat(100), '\uD800', 'a\r\nSet-Cookie: b', ', ']);
    for (let index = 0; index < 500; index++) fields.add(`/${index}`, ['x'.repeat(1_000)]);
    const header = fields.header ?? '';
    expect(header.length).to.be.below(1_200);
    expect(header).to.match(/^(?:\/7\/[!-+\--~]+, ){4}\/0\/x{50}\.\.\., /);
    expect(header).to.match(/, \.\.\.$/);
  });
});
