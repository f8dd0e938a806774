import { hashSize } from './hashing.ts';

const header = 'c2sp.org/tlog-proof@v1';

/** A proof that a leaf is in a log, with the checkpoint that it leads to. */
export interface LogProof {
  readonly leaf: Buffer;
  readonly index: number;
  readonly hashes: readonly Buffer[];
  /** The signed checkpoint. */
  readonly checkpoint: string;
}

/** A proof as a text (C2SP tlog-proof). The leaf is its extra data. */
export function writeProof({ leaf, index, hashes, checkpoint }: LogProof): string {
  const lines = [header, `extra ${leaf.toString('base64')}`, `index ${index}`];
  return `${[...lines, ...hashes.map((hash) => hash.toString('base64'))].join('\n')}\n\n${checkpoint}`;
}

/** Reads a text of {@link writeProof}. @throws for any other text. */
export function readProof(text: string): LogProof {
  const end = text.indexOf('\n\n');
  const [first, extra = '', index = '', ...hashes] = text.slice(0, end).split('\n');
  const wholeIndex = /^index (0|[1-9]\d{0,15})$/.exec(index)?.[1];
  const read = hashes.map((hash) => Buffer.from(hash, 'base64'));
  const whole =
    end >= 0 && first === header && extra.startsWith('extra ') && read.every(({ length }) => length === hashSize);
  if (!whole || wholeIndex === undefined) throw new Error('this is no proof of a log');
  const leaf = Buffer.from(extra.slice('extra '.length), 'base64');
  return { leaf, index: Number(wholeIndex), hashes: read, checkpoint: text.slice(end + 2) };
}
