import { open } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { recorded, type EventBody } from './answer.ts';
import { textOf } from './text-of.ts';

/*
 * The floor of a receipt: the bare server writes each event to a file, and answers once the disk
 * has it. All that comes while the disk is busy goes there together. Nothing is checked, and nobody
 * reads the file.
 */
const file = await open(process.env['FILE'] ?? '', 'a');
let lines: string[] = [];
let underWay = Promise.resolve();
let next: Promise<void> | undefined;

createServer((request, response) => void answer(request, response)).listen(
  Number(process.env['PORT']),
  '127.0.0.1',
  () => console.log('listening'),
);

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const event = await textOf(request);
  const text = JSON.stringify(recorded(JSON.parse(event) as EventBody, new Date()));
  lines.push(event);
  next ??= underWay = underWay.then(write);
  await next;
  response.writeHead(201, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) }).end(text);
}

async function write(): Promise<void> {
  await setImmediate();
  next = undefined;
  const text = lines.join('\n');
  lines = [];
  await file.appendFile(`${text}\n`);
  await file.datasync();
}
