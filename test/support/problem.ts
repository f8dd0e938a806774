import { expect } from 'chai';
import type { Answer } from './api-client.ts';

/** The answer is a problem document of this status and kind. */
export function expectProblem(answer: Answer, status: number, code: string): void {
  expect(answer.status, answer.body).to.equal(status);
  expect(answer.headers).to.include({
    'content-type': 'application/problem+json',
    'cache-control': 'no-store',
  });
  expect(answer.json()).to.include({ status, type: `https://runledger.dev/problems/${code}` });
}

/** An answer read from a socket, as a client would see it. */
export function answerOf(raw: string): Answer {
  const [head = '', body = ''] = raw.split('\r\n\r\n');
  const [first = '', ...lines] = head.split('\r\n');
  const headers = lines.map((line) => [line.split(': ')[0]?.toLowerCase(), line.split(': ')[1]]);
  return {
    status: Number(first.split(' ')[1]),
    headers: Object.fromEntries(headers),
    body,
    json: JSON.parse.bind(JSON, body) as Answer['json'],
  };
}
