import { Agent, request } from 'node:http';

/**
 * A process that reads the same addresses again and again, with many tokens of one organization:
 * `node hostile-reader.ts PORT TOKENS PATHS [LAST-EVENT-ID]`, until it is killed. Every fourth
 * connection never reads its answer. Prints how often each status was answered.
 */
const [port, tokens = '', paths = '', lastEventId] = process.argv.slice(2);
const connectionsOfToken = 4;

const statuses: Record<string, number> = {};

function count(status: number | string): void {
  statuses[status] = (statuses[status] ?? 0) + 1;
}

function read(number: number, token: string, path: string): void {
  const headers = {
    token,
    'x-forwarded-proto': 'https',
    ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
  };
  const again = (): void => void setTimeout(read, 20, number, token, path);
  const agent = new Agent();
  const outgoing = request({ port, host: '127.0.0.1', agent, path, headers }, (response) => {
    count(response.statusCode ?? 0);
    response.once('error', () => undefined).once('close', again);
    if (number % 4 !== 3 || response.statusCode !== 200) response.resume();
  });
  outgoing.once('error', () => {
    count('cut');
    again();
  });
  outgoing.end();
}

const [all, wanted] = [tokens.split(','), paths.split(',')];
for (const [index, token] of all.entries()) {
  for (let connection = 0; connection < connectionsOfToken; connection += 1) {
    const number = index * connectionsOfToken + connection;
    read(number, token, wanted[number % wanted.length] ?? '/');
  }
}
setInterval(() => console.log(JSON.stringify(statuses)), 500);
