import { expect } from 'chai';
import * as fc from 'fast-check';
import {
  JsonProjection,
  type Fields,
  type Projected,
  type Shape,
} from '../../../internal/intake/bodies/json-projection.ts';

const fields: Fields = { a: 3, b: { a: 5, c: { a: 2 } }, dé: 4 };
const shapes: Shape[] = [fields, [fields, 2], 3];

/** The projection of a text that arrives in pieces of so many bytes. */
function project(text: string | Buffer, shape: Shape, size: number): Projected {
  const bytes = Buffer.from(text);
  const projection = new JsonProjection(shape, 1e6);
  for (let start = 0; start < bytes.length; start += size) projection.write(bytes.subarray(start, start + size));
  projection.end();
  return projection.value;
}

/** The same by definition, from the whole value. */
function part(value: unknown, shape: Shape): Projected {
  if (value === null) return null;
  if (typeof shape === 'number') return typeof value === 'string' ? value.slice(0, shape) : true;
  if (Array.isArray(shape)) {
    const [element, most] = shape as readonly [Shape, number];
    return Array.isArray(value) ? value.slice(0, most + 1).map((one) => part(one, element)) : true;
  }
  if (typeof value !== 'object' || Array.isArray(value)) return true;
  const entries = Object.entries(shape as Fields).filter(([name]) => Object.hasOwn(value, name));
  return Object.fromEntries(entries.map(([name, inner]) => [name, part((value as never)[name], inner)]));
}

const { value: json } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    fc.constantFrom(null, true, -1.5e-3, 0, 'text', 'é😀\n"\\\u{1}', 'long '.repeat(200)),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'c', 'dé', 'x', '__proto__', 'k'.repeat(300)), tie('value')),
  ),
}));

describe('JsonProjection', () => {
  it('keeps the part that has the shape, however the document is cut', () => {
    fc.assert(
      fc.property(json, fc.constantFrom(...shapes), fc.integer({ min: 1, max: 40 }), (value, shape, size) => {
        expect(project(JSON.stringify(value, null, size % 2), shape, size)).to.deep.equal(part(value, shape));
      }),
      { numRuns: 500 },
    );
  });

  it('takes the texts that JSON.parse takes, and no others', () => {
    const damage = fc.tuple(json, fc.nat(), fc.constantFrom('', ',', '"', '}', '[', '0', ' ', '\\', 'e', '\t', ':'));
    fc.assert(
      fc.property(damage, fc.integer({ min: 1, max: 9 }), ([value, place, inserted], size) => {
        const whole = JSON.stringify(value);
        const at = place % (whole.length + 1);
        const text = whole.slice(0, at) + inserted + whole.slice(at + 1);
        const takes = (work: () => void): boolean => {
          try {
            work();
            return true;
          } catch {
            return false;
          }
        };
        // A cut surrogate pair cannot be written as UTF-8.
        fc.pre(text.isWellFormed());
        expect(takes(() => project(text, fields, size))).to.equal(
          takes(() => void JSON.parse(text)),
          text,
        );
      }),
      { numRuns: 500 },
    );
  });

  it('counts the last of equal keys', () => {
    expect(project('{"a":"1","b":{"a":"2"},"a":"3","b":7}', fields, 4)).to.deep.equal({ a: '3', b: true });
  });

  it('refuses invalid UTF-8, and more than 1,000 levels', () => {
    expect(() => project(Buffer.from([0x22, 0xff, 0x22]), 3, 1)).to.throw(TypeError);
    const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);
    expect(project(nested(1_000), 3, 100)).to.equal(true);
    expect(() => project(nested(1_001), 3, 100)).to.throw('not a JSON document');
  });
});
