import { createHmac, hash } from 'node:crypto';
import canonicalize from 'canonicalize';
import { expect } from 'chai';
import * as fc from 'fast-check';
import { readSeals, saltSize, sealOf, sealSize } from '../../../internal/event/digest.ts';
import { optionalFields } from '../../../internal/event/fields.ts';
import { leafOfAct, readAct, writeAct, type Act } from '../../../internal/ledger/act.ts';
import { erasureJson, isErasure, joinIds, leafOfErasure, type Erasure } from '../../../internal/ledger/erasure.ts';
import { eventDigest, textsDigestOf } from '../../../internal/ledger/event-digest.ts';
import { sha256 } from '../../../internal/ledger/hashing.ts';
import { rowReader, separator, timeType } from '../../../internal/ledger/joined-row.ts';
import { readSigningKeys } from '../../../internal/ledger/keys.ts';
import { isAct, isEvent, leafOf, readLeaf } from '../../../internal/ledger/leaf.ts';
import {
  actKeysFrom,
  actKeyOf,
  isMacOf,
  macKeyOf,
  macKeyText,
  macOf,
  readMacKeys,
} from '../../../internal/ledger/mac.ts';
import { readProof, writeProof } from '../../../internal/ledger/proof-text.ts';
import { storedJson, textColumns } from '../../../internal/ledger/stored-json.ts';
import { someEvent } from '../../support/events.ts';

const event = {
  organization: 'acme',
  id: '019ac0de-0000-7000-8000-00000000002a',
  created_at: new Date('2026-11-26T03:00:00.120Z'),
  occurred_at: null,
  kind: 'ERROR',
  description: '',
  error_description: 'line 1\nline 2 "quoted" \u0007\u007f é 😀 \u2028',
};

const salt = Buffer.from('000102030405060708090a0b0c0d0e0f', 'hex');
const metadata =
  '{"created_at":"2026-11-26T03:00:00.120Z","id":"019ac0de-0000-7000-8000-00000000002a",' +
  '"kind":"ERROR","organization":"acme"}';
const texts = '{"error_description":"line 1\\nline 2 \\"quoted\\" \\u0007\u007f é 😀 \u2028"}';

describe('the leaf of an event', () => {
  it('holds its id, and the hash of its metadata and of the salted hash of its texts', () => {
    expect(storedJson(event)).to.deep.equal({ metadata, texts });
    const ofTexts = sha256(Buffer.concat([salt, Buffer.from(texts)]));
    const leaf = leafOf({ ...event, salt });
    expect(leaf).to.have.lengthOf(49);
    const digest = sha256(Buffer.concat([Buffer.from(metadata), ofTexts]));
    expect(readLeaf(leaf)).to.deep.equal({ kind: 'event', id: event.id, digest });
    expect(leaf.toString('hex')).to.equal(
      '02019ac0de00007000800000000000002a33bf5f884256b6fc89b1e1187b6089cf3cdf53b0bafe2cca09d5c9741dd3045c',
    );
    expect(() => readLeaf(Buffer.alloc(49))).to.throw('no leaf has the kind 0');
    expect(() => readLeaf(leaf.subarray(1))).to.throw('49 bytes');
  });

  it('is the same once its texts are erased, and another if they are put back, or taken without a digest', () => {
    const leaf = leafOf({ ...event, salt });
    const left = { ...event, error_description: '', salt: null, texts_digest: textsDigestOf(texts, salt) };
    expect(leafOf(left)).to.deep.equal(leaf);
    expect(leafOf({ ...left, error_description: event.error_description })).to.not.deep.equal(leaf);
    expect(leafOf({ ...left, texts_digest: null })).to.not.deep.equal(leaf);
    expect(leafOf({ ...left, kind: 'END' })).to.not.deep.equal(leaf);
  });

  it('has the hash of {} for no texts, and needs no salt then', () => {
    const { metadata: json, texts: none } = storedJson({ ...event, error_description: null });
    expect([json, none]).to.deep.equal([metadata, '{}']);
    const digest = sha256(Buffer.concat([Buffer.from(metadata), sha256('{}')]));
    expect(readLeaf(leafOf({ ...event, error_description: '', salt: null })).digest).to.deep.equal(digest);
  });

  it('is over the same JSON if the columns of its row come as one text', () => {
    const names = ['created_at', 'id', 'occurred_at', 'description', 'kind', 'error_id', 'salt', 'texts_digest'];
    const typeOf = (name: string) => (name.endsWith('_at') ? timeType : name === 'id' ? 'uuid' : 'text');
    const columns = names.map((name) => ({ name, type: typeOf(name) }));
    const read = (...values: string[]) => rowReader(columns)(values.join(separator));
    const [at, id] = ['2026-11-26 03:00:00.12', event.id];
    const { created_at } = event;
    const row = { organization: '', id, created_at, occurred_at: new Date('2026-11-26T03:00:00Z') };
    expect(read(at, id, '2026-11-26 03:00:00', 'a "b"\n', 'END', '', salt.toString('hex'), '')).to.deep.equal({
      id,
      time: created_at.getTime(),
      ...storedJson({ ...row, description: 'a "b"\n', kind: 'END', error_id: null }),
      salt,
      textsDigest: null,
    });
    const digest = sha256('x');
    const erased = read(at, id, '', '', 'END', '', '', digest.toString('hex'));
    expect([erased?.texts, erased?.salt, erased?.textsDigest]).to.deep.equal(['{}', null, digest]);
    expect(read(at, id, '', `a${separator}b`, 'END', '', '', '')).to.equal(undefined);
    expect(read(at, id, '', 'a', 'END', '', '')).to.equal(undefined);
    for (const odd of ['0044-03-15 12:00:00 BC', '12026-11-26 03:00:00', 'infinity']) {
      expect(read(at, id, odd, '', 'END', '', '', ''), odd).to.equal(undefined);
      expect(read(odd, id, '', '', 'END', '', '', ''), odd).to.equal(undefined);
    }
  });

  it('is over JSON that is canonical by RFC 8785', () => {
    const text = fc.string({ unit: 'binary', minLength: 1, maxLength: 8 });
    const property = fc.property(fc.tuple(text, text, text), ([id, description, kind]) => {
      const row = { organization: 'acme', kind, id };
      const own = { error_id: 'E', description };
      expect(storedJson({ ...row, ...own })).to.deep.equal({ metadata: canonicalize(row), texts: canonicalize(own) });
    });
    fc.assert(property);
  });

  it('is the one that ingest makes before it stores the event', () => {
    expect(textColumns).to.have.members(optionalFields.map(({ column }) => column));
    fc.assert(
      fc.property(someEvent, fc.nat(3_000), (given, length) => {
        const accepted = { ...given, errorDescription: `${given.errorDescription}${'é'.repeat(length)}` };
        const seal = readSeals([sealOf(accepted)]);
        const hasTexts = optionalFields.some(({ property }) => accepted[property] !== '');
        const lower = accepted.automationId.toLowerCase();
        const row = {
          organization: accepted.organization,
          created_at: new Date(accepted.createdAt),
          id: accepted.id,
          automation_id: lower,
          automation_as_sent: lower === accepted.automationId ? null : accepted.automationId,
          execution_id: accepted.executionId,
          kind: accepted.kind,
          occurred_at: accepted.occurredAt === undefined ? null : new Date(accepted.occurredAt),
          ...Object.fromEntries(optionalFields.map(({ column, property }) => [column, accepted[property]])),
          salt: hasTexts ? seal.subarray(0, saltSize) : null,
        };
        expect(eventDigest(row)).to.equal(seal.toString('latin1', saltSize));
      }),
    );
  });
});

describe('the seals of a batch', () => {
  it('do not move when one of them is damaged', () => {
    const [first, second, third] = fc.sample(someEvent, 3).map((event) => sealOf(event));
    const damaged = `*${(second ?? '').slice(1)}`;
    const read = readSeals([first ?? '', damaged, third ?? '']);
    expect(read).to.have.length(3 * sealSize);
    expect(read.subarray(0, sealSize)).to.deep.equal(readSeals([first ?? '']));
    expect(read.subarray(2 * sealSize)).to.deep.equal(readSeals([third ?? '']));
  });
});

describe('the leaf of an erasure', () => {
  it('holds the hash of its record in canonical JSON', () => {
    const erasure: Erasure = {
      id: '019ac0de-0000-7000-8000-00000000002b',
      organization: 'acme',
      erased_at: new Date('2026-11-26T03:00:00.120Z'),
      erased_by: 'jo',
      reason: 'asked to',
      scope: 'text',
      automation_id: null,
      event_ids: joinIds([event.id]),
    };
    const ids = sha256(Buffer.from('019ac0de00007000800000000000002a', 'hex')).toString('hex');
    expect(erasureJson(erasure)).to.equal(
      `{"erased_at":"2026-11-26T03:00:00.120Z","erased_by":"jo","event_ids_sha256":"${ids}",` +
        '"id":"019ac0de-0000-7000-8000-00000000002b","organization":"acme","reason":"asked to","scope":"text"}',
    );
    const leaf = leafOfErasure(erasure);
    expect([isErasure(leaf), isEvent(leaf), isAct(leaf)]).to.deep.equal([true, false, false]);
    expect(readLeaf(leaf)).to.deep.equal({ kind: 'erasure', id: erasure.id, digest: sha256(erasureJson(erasure)) });
  });
});

const act: Act = {
  id: '019ac0de-0000-7000-8000-00000000002c',
  organization: 'acme',
  kind: 'manifest',
  at: new Date('2026-11-26T03:00:00.120Z'),
  by: 'export',
  details: { sha256: 'ab', day: '2026-11-25', object: 'acme/2026-11-25.manifest' },
};

describe('the leaf of an act', () => {
  const text =
    '{"act":"manifest","at":"2026-11-26T03:00:00.120Z","by":"export","day":"2026-11-25",' +
    '"id":"019ac0de-0000-7000-8000-00000000002c","object":"acme/2026-11-25.manifest","organization":"acme",' +
    '"sha256":"ab"}';

  it('holds the hash of its canonical JSON, which can be read again', () => {
    expect(writeAct(act)).to.equal(text);
    expect(readAct(text)).to.deep.equal(act);
    const leaf = leafOfAct(act.id, text);
    expect([isErasure(leaf), isEvent(leaf), isAct(leaf)]).to.deep.equal([false, false, true]);
    expect(readLeaf(leaf)).to.deep.equal({ kind: 'act', id: act.id, digest: sha256(text) });
    for (const other of ['{}', 'null', text.replace('manifest', 'x'), ` ${text}`, text.replace('.120Z', 'Z')]) {
      expect(() => readAct(other), other).to.throw('no act');
    }
  });
});

describe('the MAC of leaves', () => {
  const [signing] = readSigningKeys(
    'PRIVATE+KEY+log.example.org+ef3f1525+AVZBS7gTIJKxj9MDFmisGHYgD5bwHjr9BEwphpWHc34/',
  );
  it('comes from a key that the key of the log gives, and is of the organization and the leaves', () => {
    if (signing === undefined) throw new Error('no key');
    const key = macKeyOf(signing);
    expect(readMacKeys(macKeyText(key))).to.deep.equal([key]);
    expect(key.toString('hex')).to.equal('3929b9cf7f83b9a07e5690c26ca17e390df27be6f00ac3014e69535d3b52b4a8');
    const leaf = leafOf({ ...event, salt });
    const mac = macOf(key, 'acme', leaf);
    const digest = hash('sha256', leaf, 'buffer');
    const whole = createHmac('sha256', key).update('acme\0').update(digest).digest();
    expect(mac).to.deep.equal(whole.subarray(0, 16));
    expect(isMacOf([Buffer.alloc(32), key], 'acme', leaf, mac)).to.equal(true);
    const other = Buffer.from(leaf);
    other[48] = (other[48] ?? 0) ^ 1;
    expect(isMacOf([key], 'acme', other, mac)).to.equal(false);
    expect(isMacOf([key], 'umbrella', leaf, mac)).to.equal(false);
    expect(isMacOf([Buffer.alloc(32)], 'acme', leaf, mac)).to.equal(false);
    expect(isMacOf([key], 'acme', leaf, null)).to.equal(false);
    expect(() => readMacKeys('x')).to.throw('is no key that `token ledger-key` made');
    expect(() => readMacKeys(macKeyText(key).replace(/KEY\+./, 'KEY+g'))).to.throw();
  });

  it('has a key of acts only, with which nobody adds an event', () => {
    if (signing === undefined) throw new Error('no key');
    const key = macKeyOf(signing);
    const [actKey, leaf] = [actKeyOf(key), leafOf({ ...event, salt })];
    const ofAct = leafOfAct(act.id, writeAct(act));
    expect(isMacOf([key], 'acme', ofAct, macOf(actKey, 'acme', ofAct))).to.equal(true);
    const both = Buffer.concat([ofAct, leaf]);
    for (const leaves of [leaf, both]) {
      expect(isMacOf([key], 'acme', leaves, macOf(actKey, 'acme', leaves))).to.equal(false);
    }
    expect(actKeysFrom({ LEDGER_MAC_KEY: macKeyText(actKey, 'ACT') })).to.deep.equal([actKey]);
    expect(actKeysFrom({ LEDGER_MAC_KEY: macKeyText(key) })).to.deep.equal([actKey]);
    expect(actKeysFrom({})).to.deep.equal([]);
    expect(() => readMacKeys(macKeyText(actKey, 'ACT'))).to.throw('is a key of acts only');
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
