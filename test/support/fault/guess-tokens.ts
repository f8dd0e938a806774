import { randomBytes } from 'node:crypto';
import { Agent, request } from 'node:http';

/**
 * A process that guesses tokens as fast as it can: `node guess-tokens.ts PORT`, until it is killed.
 * Prints how many guesses it has made.
 */
const port = Number(process.argv[2]);
const agent = new Agent({ keepAlive: true, maxSockets: 32 });
let guesses = 0;

function guess(): void {
  const headers = { token: `rl_${randomBytes(32).toString('base64url')}`, 'x-forwarded-proto': 'https' };
  const outgoing = request({ port, host: '127.0.0.1', agent, path: '/v1/ping/', headers }, (response) => {
    guesses += 1;
    if (response.statusCode !== 401) throw new Error(`a guess was answered ${response.statusCode}`);
    response.resume().once('end', guess);
  });
  outgoing.once('error', guess);
  outgoing.end();
}

for (let index = 0; index < 32; index += 1) guess();
setInterval(() => console.log(`${guesses} guesses`), 500);
