import process from 'node:process';

/** What the test tells a program that uses a generated client. */
const given = (name: string): string => {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is missing`);
  return value;
};

export const scenario = {
  ingest: given('INGEST'),
  console: given('CONSOLE'),
  writeToken: given('WRITE_TOKEN'),
  readToken: given('READ_TOKEN'),
  automation: given('AUTOMATION'),
  execution: given('EXECUTION'),
  key: given('KEY'),
  /** The id of an event that is in the log. */
  proven: given('PROVEN'),
};

/** Calls until the answer is there: a recorded event can be read about a second later. */
export async function untilThere<T>(call: () => Promise<T | undefined>): Promise<T> {
  const until = Date.now() + 30_000;
  for (;;) {
    const answer = await call();
    if (answer !== undefined) return answer;
    if (Date.now() > until) throw new Error('the execution is not in the record');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

export const linesOf = (text: string): number => text.trimEnd().split('\n').length;

/** The first four characters of a Parquet file. */
export const magicOf = async (file: Blob): Promise<string> => (await file.text()).slice(0, 4);

/** The value, which an answer of success has. */
export function present<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('the answer has no body');
  return value;
}

export function report(found: object): void {
  console.log(JSON.stringify(found));
}
