import { once } from 'node:events';
import { get } from 'node:https';
import { expect } from 'chai';
import { forbiddenAddresses } from '../../../internal/controller/notify/forbidden-addresses.ts';
import { GuardedAgent } from '../../../internal/controller/notify/guarded-agent.ts';

describe('the agent of channels', () => {
  for (const [what, host, address] of [
    ['an address', '[64:ff9b::a9fe:a9fe]', undefined],
    ['a name that leads there', 'receiver.example', '64:ff9b::a9fe:a9fe'],
  ] as const) {
    it(`does not connect to metadata behind NAT64, for ${what}`, async () => {
      const agent = new GuardedAgent(forbiddenAddresses(true), {
        lookup: (_name, options, found) => {
          if (options.all === true) found(null, [{ address: String(address), family: 6 }]);
          else found(null, String(address), 6);
        },
      });
      const request = get(`https://${host}/`, { agent });
      const [error] = (await once(request, 'error')) as [NodeJS.ErrnoException];
      expect(error.code, error.message).to.equal('ERR_IP_BLOCKED');
    });
  }
});
