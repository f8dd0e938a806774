import { Router } from '@koa/router';
import Koa from 'koa';
import bodyParser from 'koa-bodyparser';
import { recorded, type EventBody } from './answer.ts';

/** Serves the endpoint the usual way: each event is handed over, and answered when that is done. */
export function serve(take: (event: EventBody, organization: string, createdAt: Date) => Promise<unknown>): void {
  const organizations = new Map([[process.env['TOKEN'], 'acme']]);
  const router = new Router();
  router.post('/v1/register/', async (ctx) => {
    const organization = organizations.get(ctx.get('token')) ?? ctx.throw(401);
    const event = ctx.request.body as EventBody;
    if (!event.automation_id || !event.execution_id || !event.event) ctx.throw(400);
    const createdAt = new Date();
    await take(event, organization, createdAt);
    ctx.status = 201;
    ctx.body = recorded(event, createdAt);
  });
  const app = new Koa();
  app.use(bodyParser()).use(router.routes()).use(router.allowedMethods());
  app.listen(Number(process.env['PORT']), '127.0.0.1', () => console.log('listening'));
}
