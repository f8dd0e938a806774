import { expect } from 'chai';
import { ProgressBar } from '../../../internal/kit/terminal/progress-bar.ts';

const progress = { done: 1, total: 2, events: 123_456, part: 'acme 2026-11-21' };

describe('a progress bar', () => {
  const shownOn = (columns: number | undefined): string => {
    let written = '';
    const bar = new ProgressBar({
      isTTY: true,
      ...(columns && { columns }),
      write: (text: string) => (written += text),
    });
    bar.show(progress);
    return written.replace('\r\u001b[K', '');
  };

  it('stays on one line of its terminal, whose next picture would leave a second line behind', () => {
    const whole = shownOn(undefined);
    expect(whole).to.match(/^\[#{12}-{12}\] 50 % {2}acme 2026-11-21 {2}123,456 events, [\d,]+ a second$/);
    expect(shownOn(50)).to.have.lengthOf(49).and.to.equal(whole.slice(0, 49));
    expect(shownOn(200)).to.match(/a second$/);
  });
});
