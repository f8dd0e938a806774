import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { expect } from 'chai';
import Koa, { type Context } from 'koa';
import { createRefusalLimiter } from '../../../internal/intake/http/refusal-limiter.ts';
import { RequestError, unavailable } from '../../../internal/kit/errors/request-error.ts';

function requestOf(organization: string): Context {
  const request = new IncomingMessage(new Socket());
  const ctx = new Koa().createContext(request, new ServerResponse(request));
  ctx.state['organization'] = organization;
  return ctx;
}

describe('the rate limiter for refused requests', () => {
  it('counts those of each organization, but no 503 and 409', async () => {
    const counted: string[] = [];
    let limiters = 0;
    const limit = createRefusalLimiter(() => {
      const name = `limiter ${(limiters += 1)}`;
      return () => {
        counted.push(name);
        return Promise.resolve();
      };
    });
    const [acme, globex] = [requestOf('acme'), requestOf('globex')];
    await limit(acme, new RequestError('invalid-event', ''));
    await limit(globex, new RequestError('payload-too-large', ''));
    await limit(acme, new RequestError('too-many-requests', ''));
    for (const error of [unavailable(''), new RequestError('request-in-progress', ''), new Error('a defect')]) {
      expect(limit(acme, error)).to.equal(undefined);
    }
    expect(counted).to.deep.equal(['limiter 1', 'limiter 2', 'limiter 1']);
  });
});
