import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { recorded, type EventBody } from './answer.ts';
import { textOf } from './text-of.ts';

/*
 * The floor: `node:http` alone parses the event and answers as if it had been recorded. Nothing is
 * checked or stored.
 */
createServer((request, response) => void answer(request, response)).listen(
  Number(process.env['PORT']),
  '127.0.0.1',
  () => console.log('listening'),
);

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = recorded(JSON.parse(await textOf(request)) as EventBody, new Date());
  const text = JSON.stringify(body);
  response.writeHead(201, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) }).end(text);
}
