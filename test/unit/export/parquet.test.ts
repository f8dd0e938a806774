import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { parquetMetadata } from 'hyparquet';
import { optionalFields, type OptionalColumn } from '../../../internal/event/fields.ts';
import { ParquetEncoder } from '../../../internal/record/formats/parquet.ts';
import { provenEventOf } from '../../../internal/record/stored-event.ts';

const event = () =>
  provenEventOf({
    created_at: new Date(),
    id: randomUUID(),
    automation_id: randomUUID(),
    automation_as_sent: null,
    execution_id: 'run',
    kind: 'EVENT',
    ...(Object.fromEntries(optionalFields.map(({ column }) => [column, ''])) as Record<OptionalColumn, string>),
    occurred_at: null,
    salt: null,
    texts_digest: null,
  });

describe('an object in Parquet', () => {
  it('has larger row groups the more rows it has, so that its footer stays small', () => {
    const encoder = new ParquetEncoder(2);
    const rows = 5_000;
    const pieces = Array.from({ length: rows / 100 }, () => encoder.add(Array.from({ length: 100 }, event)));
    const bytes = Buffer.concat([...pieces, encoder.end()]);
    const { row_groups: groups } = parquetMetadata(new Uint8Array(bytes).buffer);
    const sizes = groups.map((group) => Number(group.num_rows));
    expect(sizes.reduce((sum, size) => sum + size, 0)).to.equal(rows);
    expect([sizes[0], sizes.at(-2)]).to.deep.equal([2, 9]);
    expect(sizes.length).to.be.below(rows / 3);
  });
});
