import { expect } from 'chai';
import { createLogger, describeError, type LogLevel } from '../../../internal/kit/telemetry/logger.ts';
import { RepeatLimit } from '../../../internal/kit/telemetry/repeat-limit.ts';

function logging(level: LogLevel = 'info') {
  const lines: Record<string, unknown>[] = [];
  const write = (line: string): void => void lines.push(JSON.parse(line) as Record<string, unknown>);
  return { logger: createLogger('test', level, { write }), lines };
}

describe('log records', () => {
  it('are one JSON object each, with level, time, process, fields and a constant message', () => {
    const { logger, lines } = logging();
    logger.info({ port: 1 }, 'listening');
    const [{ time, ...record } = {}] = lines;
    expect(record).to.deep.equal({ level: 'info', process: 'test', port: 1, msg: 'listening' });
    expect(time).to.match(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  });

  it('say of an error its type, message and code, and nothing that a library has attached to it', () => {
    const { logger, lines } = logging();
    const attached = { code: 'E1', body: 'secret', cause: new Error('secret') };
    logger.warn({ error: Object.assign(new TypeError('broken'), attached) }, 'it broke');
    expect(lines[0]?.['error']).to.deep.equal({ type: 'TypeError', message: 'broken', code: 'E1' });
    expect(describeError(Object.assign(new Error('no'), { code: 7 }))).to.deep.equal({ type: 'Error', message: 'no' });
    expect(describeError('thrown text')).to.deep.equal({ type: 'string', message: 'thrown text' });
    expect(describeError(undefined)).to.deep.equal({ type: 'undefined', message: 'undefined' });
  });

  it('have no control characters and none that turn a text around, wherever they are', () => {
    const { logger, lines } = logging();
    const text = 'a\n\u001b[2Jb\u202Ec\u2028d\u200f';
    const fields = {
      name: text,
      names: [text],
      more: { name: text },
      error: new Error(text),
      at: new Date(0),
      no: null,
    };
    logger.warn(fields, 'it broke');
    const plain = 'a [2Jbc d';
    expect(lines[0]).to.deep.include({ name: plain, names: [plain], more: { name: plain }, no: null });
    expect(lines[0]).to.deep.include({ error: { type: 'Error', message: plain }, at: '1970-01-01T00:00:00.000Z' });
  });

  it('that repeat are limited, whatever the error says; others are not', () => {
    const { logger, lines } = logging();
    for (let time = 0; time < 50; time += 1) logger.warn({ error: new Error(`no ${time}`) }, 'commit failed');
    for (let time = 0; time < 50; time += 1) logger.error('plain');
    for (const status of [400, 401, 404]) logger.info({ status }, 'request refused');
    expect(lines.filter(({ msg }) => msg === 'commit failed')).to.have.length(10);
    expect(lines.filter(({ msg }) => msg === 'plain')).to.have.length(10);
    expect(lines.filter(({ msg }) => msg === 'request refused')).to.have.length(3);
  });

  it('for auditors are all there', () => {
    const { logger, lines } = logging();
    for (let time = 0; time < 50; time += 1) logger.info({ audit: true, subject: `${time}` }, 'record accessed');
    expect(new Set(lines.map(({ subject }) => subject)).size).to.equal(50);
  });

  it('for debugging are all there', () => {
    const { logger, lines } = logging('debug');
    for (let time = 0; time < 50; time += 1) logger.debug({ time }, 'detail');
    expect(lines).to.have.length(50);
  });
});

describe('the limit of repeats', () => {
  it('lets the first of a window pass, and says in the next how many were left out', () => {
    let now = 0;
    const limit = new RepeatLimit({ burst: 2, windowMs: 1_000 }, () => now);
    expect([1, 2, 3, 4].map(() => limit.pass('a'))).to.deep.equal([0, 0, undefined, undefined]);
    expect(limit.pass('b')).to.equal(0);
    now = 1_000;
    expect([limit.pass('a'), limit.pass('a'), limit.pass('b')]).to.deep.equal([2, 0, 0]);
  });

  it('holds a bounded number of kinds', () => {
    const limit = new RepeatLimit({ burst: 1, windowMs: 1_000 }, () => 0);
    for (let kind = 0; kind < 5_000; kind += 1) expect(limit.pass(String(kind))).to.equal(0);
    expect(limit.pass('0'), 'forgotten, not refused').to.equal(0);
  });
});
