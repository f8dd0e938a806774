import { expect } from 'chai';
import { answerHeaders } from '../../../internal/intake/http/answer-headers.ts';

describe('the headers of every answer', () => {
  it('leave localhost alone, whose other ports may speak plain HTTP', () => {
    for (const address of ['https://localhost:8443', 'https://console.localhost']) {
      expect(answerHeaders(new URL(address))).to.deep.equal({ 'X-Content-Type-Options': 'nosniff' });
    }
    expect(answerHeaders(new URL('https://notlocalhost'))).to.include.keys('Strict-Transport-Security');
  });
});
