import { expect } from 'chai';
import { messageOf } from '../../../internal/console/parts/error-text.ts';

const frames = (count: number, line: (depth: number) => string): string[] =>
  Array.from({ length: count }, (_, depth) => line(depth));

describe('the message of an error', () => {
  it('is the whole text if that is short', () => {
    expect(messageOf('Killed')).to.equal(undefined);
    expect(messageOf(['Error: no button', ...frames(9, (at) => `  at step${at} (a.js:${at}:1)`)].join('\n'))).to.equal(
      undefined,
    );
  });

  it('is what precedes the stack trace, and the last cause', () => {
    const java = ['java.lang.IllegalStateException: two', 'lines', ...frames(30, (at) => `\tat a.B.run(B.java:${at})`)];
    expect(messageOf([...java, 'Caused by: java.io.IOException: reset', '\t... 30 more'].join('\r\n'))).to.equal(
      'java.lang.IllegalStateException: two\nlines\nCaused by: java.io.IOException: reset',
    );
  });

  it('is the end of a traceback of Python', () => {
    const python = ['Traceback (most recent call last):', ...frames(20, (at) => `  File "a.py", line ${at}, in run`)];
    expect(messageOf([...python, 'ValueError: "1,5" is not a number'].join('\n'))).to.equal(
      'ValueError: "1,5" is not a number',
    );
  });

  it('is the beginning of a long line, and of a long text without a trace', () => {
    expect(messageOf('x'.repeat(5_000))).to.equal(`${'x'.repeat(600)}…`);
    expect(messageOf(frames(100, (line) => `line ${line}`).join('\n'))).to.equal('line 0\nline 1\nline 2\nline 3');
  });
});
