import { expect } from 'chai';
import { reasonOf } from '../../../internal/client/reason.ts';

describe('why a request got no answer', () => {
  it('names the code where the error has no message: a name with several addresses', () => {
    const error = Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' });
    expect(reasonOf(error, 'Runledger')).to.equal('Runledger does not answer: ECONNREFUSED');
  });
});
