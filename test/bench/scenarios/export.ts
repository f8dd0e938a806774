import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { figure } from '../harness/figures.ts';
import { startConsole } from '../harness/sides.ts';
import { readToken } from '../harness/wrk.ts';
import { generateEvents } from './growth.ts';
import type { Scenario } from './scenario.ts';

/** One export of all events: how fast, and in how much memory. */
export const exporting: Scenario = async (world, { exportEvents }) => {
  const database = await world.createDatabase();
  await generateEvents(database, exportEvents);
  const { program, port } = await startConsole(world, database);
  const begun = performance.now();
  const { lines, bytes } = await read(port, '/v1/export/events');
  const seconds = (performance.now() - begun) / 1_000;
  if (lines !== exportEvents) throw new Error(`${lines} of ${exportEvents} events were exported`);
  const figures = [
    figure('Events exported', lines, 'events'),
    figure('Rate of the export', lines / seconds, 'events/s'),
    figure('Bytes of the export', bytes / seconds / 2 ** 20, 'MB/s'),
    figure('Memory of the console, most', (await program.memory('VmHWM')) / 2 ** 20, 'MB', { atMost: 150 }),
  ];
  await world.end(program);
  return { figures };
};

async function read(port: number, path: string): Promise<{ lines: number; bytes: number }> {
  const headers = { token: readToken, 'x-forwarded-proto': 'https' };
  const sent = request({ port, path, headers }).end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  if (response.statusCode !== 200) throw new Error(`the export was answered with ${response.statusCode}`);
  let [lines, bytes] = [0, 0];
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) lines += 1;
  }
  if (!response.complete) throw new Error('the export was cut off');
  return { lines, bytes };
}
