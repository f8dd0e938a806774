import { expect } from 'chai';
import * as fc from 'fast-check';
import { acceptEvent, recordedForm } from '../../../internal/event/event.ts';
import { RequestError } from '../../../internal/kit/errors/request-error.ts';
import { eventKinds } from '../../../internal/event/schema.ts';
import { isStorable } from '../../../internal/event/stored-text.ts';
import { optionalFields, type RequestTexts } from '../../../internal/event/fields.ts';
import { createEventValidator } from '../../../internal/event/validate.ts';

const validate = createEventValidator();

describe('event validator', () => {
  it('gives every event that can be stored back as it was, and its recorded form echoes it', () => {
    const text = fc.string({ unit: 'binary', maxLength: 40 }).filter(isStorable);
    const optional = fc.option(text, { nil: null });
    const events = fc.record(
      {
        automation_id: fc.uuid(),
        execution_id: text.filter((id) => id !== ''),
        event: fc.constantFrom(...eventKinds),
        ...Object.fromEntries(optionalFields.map(({ request }) => [request, optional])),
      },
      { requiredKeys: ['automation_id', 'execution_id', 'event'] },
    );
    fc.assert(
      fc.property(events, (body) => {
        const request = validate(body);
        expect(request).to.equal(body);
        const given = body as RequestTexts;
        expect(recordedForm(acceptEvent(request, 'acme', { id: 'x', createdAt: 0 }))).to.deep.equal({
          automation: body.automation_id,
          execution_id: body.execution_id,
          type_of_event: body.event,
          ...Object.fromEntries(optionalFields.map(({ request, recorded }) => [recorded, given[request] ?? ''])),
          created_at: '1970-01-01T00:00:00.000Z',
        });
      }),
    );
  });

  it('gives any other JSON a refusal with at least one fault, and nothing else', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 40 }), (body) => {
        try {
          validate(body);
          expect.fail('took it');
        } catch (error) {
          expect(error).to.be.instanceOf(RequestError);
          expect((error as RequestError).code).to.equal('invalid-event');
          expect((error as RequestError).faults).to.not.deep.equal([]);
        }
      }),
    );
  });
});
