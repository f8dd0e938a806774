import { expect } from 'chai';
import { openCheckpoint, signCheckpoint } from '../../../internal/ledger/checkpoint.ts';
import {
  createSigningKey,
  forOrganization,
  readSigningKeys,
  readVerifierKey,
  verifierKeyText,
} from '../../../internal/ledger/keys.ts';
import { openNote, signNote } from '../../../internal/ledger/note.ts';

/** The example of golang.org/x/mod/sumdb/note. */
const example = {
  key: 'PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz',
  verifier: 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW',
  text: "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n",
  signature:
    '— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n',
};

describe('signed notes', () => {
  const note = `${example.text}\n${example.signature}`;
  const verifier = readVerifierKey(example.verifier);

  it('are those of golang.org/x/mod/sumdb/note', () => {
    const keys = readSigningKeys(example.key);
    expect(keys.map((key) => verifierKeyText(key))).to.deep.equal([example.verifier]);
    expect(signNote(example.text, keys)).to.equal(note);
    expect(openNote(note, [verifier])).to.deep.equal({ text: example.text, signers: [verifier] });
  });

  it('are refused if they changed, or if no known key signed them', () => {
    const open =
      (text: string, keys = [verifier]) =>
      () =>
        openNote(text, keys);
    expect(open(note.replace('answer', 'reason'))).to.throw('the signature of PeterNeumann is wrong');
    expect(open(note, [])).to.throw('no known key signed the note');
    expect(open(example.text)).to.throw('this is no signed note');
    expect(open(note.slice(0, -1))).to.throw('this is no signed note');
    expect(open(`${note}— Peter\n`)).to.throw('is no signature');
  });

  it('have lines of unknown keys, which are ignored', () => {
    const other = readSigningKeys(createSigningKey('other.example'));
    const both = signNote(example.text, [...other, ...readSigningKeys(example.key)]);
    expect(openNote(both, [verifier]).signers).to.deep.equal([verifier]);
  });
});

describe('checkpoints', () => {
  const key = (): string => createSigningKey('log.example.org');
  const head = { size: 5, root: Buffer.alloc(32, 9) };
  const publicOf = (keys: ReturnType<typeof readSigningKeys>) =>
    keys.map((one) => readVerifierKey(verifierKeyText(one)));

  it('name the log of their organization, size and root', () => {
    const keys = readSigningKeys(key());
    const note = signCheckpoint('acme corp', head, keys);
    expect(note.split('\n').slice(0, 3)).to.deep.equal([
      'log.example.org/acme%20corp',
      '5',
      'CQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQk=',
    ]);
    expect(openCheckpoint(note, 'acme corp', publicOf(keys))).to.deep.equal(head);
  });

  it('of one organization are none of another', () => {
    const keys = readSigningKeys(key());
    const note = signCheckpoint('acme', head, keys);
    expect(() => openCheckpoint(note, 'globex', publicOf(keys))).to.throw('no known key signed the note');
    const forged = signNote(
      `log.example.org/globex\n5\n${'A'.repeat(43)}=\n`,
      keys.map((one) => forOrganization(one, 'acme')),
    );
    expect(() => openCheckpoint(forged, 'acme', publicOf(keys))).to.throw('is of the log log.example.org/globex');
  });

  it('are signed with the old and the new key while keys change', () => {
    const keys = readSigningKeys(`${key()}\n${key()}\n`);
    const note = signCheckpoint('acme', head, keys);
    for (const one of publicOf(keys)) expect(openCheckpoint(note, 'acme', [one])).to.deep.equal(head);
  });
});

describe('keys of a log', () => {
  it('are refused without a word of the key', () => {
    const key = createSigningKey('log.example.org');
    const wrong = { [key.replace('log.', 'lag.')]: 'is damaged', [key.slice(0, -4)]: 'is no key', secret: 'is no key' };
    for (const [text, message] of Object.entries(wrong)) {
      expect(() => readSigningKeys(text))
        .to.throw(message)
        .with.property('message')
        .that.does.not.include(text);
    }
    expect(() => readSigningKeys(`${key} ${createSigningKey('other.example')}`)).to.throw('must have one name');
    expect(() => createSigningKey('two words')).to.throw('one word');
    expect(() => readVerifierKey('log.example.org')).to.throw('is no public key');
  });
});
