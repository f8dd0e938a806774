import canonicalize from 'canonicalize';
import { expect } from 'chai';
import * as fc from 'fast-check';
import { sha256 } from '../../../internal/log/hashing.ts';
import { rowReader, separator, timeType } from '../../../internal/log/joined-row.ts';
import { leafOf, readLeaf } from '../../../internal/log/leaf.ts';
import { readProof, writeProof } from '../../../internal/log/proof-text.ts';
import { storedJson } from '../../../internal/log/stored-json.ts';

const event = {
  organization: 'acme',
  id: '019ac0de-0000-7000-8000-00000000002a',
  created_at: new Date('2026-11-26T03:00:00.120Z'),
  occurred_at: null,
  kind: 'ERROR',
  description: '',
  error_description: 'line 1\nline 2 "quoted" \u0007\u007f é 😀 \u2028',
};

describe('a leaf', () => {
  it('holds the id of the event and the hash of its canonical JSON', () => {
    const leaf = leafOf(event);
    expect(leaf).to.have.lengthOf(49);
    expect(readLeaf(leaf)).to.deep.equal({ id: event.id, digest: sha256(storedJson(event)) });
    expect(() => readLeaf(Buffer.alloc(49))).to.throw('the version of a leaf is 1 or 2, not 0');
    expect(() => readLeaf(leaf.subarray(1))).to.throw('49 bytes');
  });

  it('has no member for a column that is empty or null', () => {
    expect(storedJson(event)).to.equal(
      '{"created_at":"2026-11-26T03:00:00.120Z",' +
        '"error_description":"line 1\\nline 2 \\"quoted\\" \\u0007\u007f é 😀 \u2028",' +
        '"id":"019ac0de-0000-7000-8000-00000000002a","kind":"ERROR","organization":"acme"}',
    );
  });

  it('is over the same JSON if the columns of its row come as one text', () => {
    const columns = ['created_at', 'id', 'occurred_at', 'description', 'kind', 'error_id'].map((name) => ({
      name,
      type: name.endsWith('_at') ? timeType : name === 'id' ? 'uuid' : 'text',
    }));
    const read = (...texts: string[]) => rowReader(columns)(texts.join(separator));
    const [at, id] = ['2026-11-26 03:00:00.12', event.id];
    const { created_at } = event;
    expect(read(at, id, '2026-11-26 03:00:00', 'a "b"\n', 'END', '')).to.deep.equal({
      id,
      time: created_at.getTime(),
      json: storedJson({
        organization: '',
        id,
        created_at,
        occurred_at: new Date('2026-11-26T03:00:00Z'),
        description: 'a "b"\n',
        kind: 'END',
        error_id: null,
      }),
    });
    expect(read(at, id, '', `a${separator}b`, 'END', '')).to.equal(undefined);
    expect(read(at, id, '', 'a', 'END')).to.equal(undefined);
    for (const odd of ['0044-03-15 12:00:00 BC', '12026-11-26 03:00:00', 'infinity']) {
      expect(read(at, id, odd, '', 'END', ''), odd).to.equal(undefined);
      expect(read(odd, id, '', '', 'END', ''), odd).to.equal(undefined);
    }
  });

  it('is over JSON that is canonical by RFC 8785', () => {
    const text = fc.string({ unit: 'binary', minLength: 1, maxLength: 8 });
    const property = fc.property(fc.tuple(text, text, text), ([id, description, kind]) => {
      const row = { organization: 'acme', kind, id, error_id: 'E', description };
      expect(storedJson(row)).to.equal(canonicalize(row));
    });
    fc.assert(property);
  });
});

describe('the text of a proof', () => {
  it('can be read again', () => {
    const hashes = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
    for (const proof of [hashes, []]) {
      const whole = { leaf: leafOf(event), index: 7, hashes: proof, checkpoint: 'log/acme\n8\nroot\n\n— log x\n' };
      expect(writeProof(whole)).to.match(/^c2sp\.org\/tlog-proof@v1\nextra \S+\nindex 7\n/);
      expect(readProof(writeProof(whole))).to.deep.equal(whole);
    }
    expect(() => readProof('c2sp.org/tlog-proof@v1\nindex 07\n\nx')).to.throw('no proof');
  });
});
