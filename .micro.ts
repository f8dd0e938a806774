import { IdempotencyKeys } from '/work/wt/keys51/internal/queue/keys/idempotency.ts';
import { createIdentitySource } from '/work/wt/keys51/internal/event/identity.ts';
import { Redis } from 'ioredis';
const redis = new Redis(process.env.U!);
const place = { redis, key: '{x}:k' };
const keys = new IdempotencyKeys(() => [place], 86400_000, { open: 64 });
const identify = createIdentitySource();
let n = 0;
async function caller(count: number) {
  for (let i = 0; i < count; i++) {
    n++;
    const ev = { ...identify(), organization:'acme', automationId:'0190a0b0-0000-7000-8000-000000000001', executionId:'20260101T000000-0000000100000'+n, kind:'EVENT' as const, description:'x'.repeat(160), errorId:'', errorDescription:'' };
    const c: any = await keys.reserve({ key: ['caller', 'key-of-the-bench-'+n], events: [ev] });
    if (!c.events) throw new Error(c);
    void keys.markCommitted(c);
  }
}
const cpu = async () => Number(/used_cpu_user_main_thread:([\d.]+)/.exec(await redis.info('cpu'))![1]) + Number(/used_cpu_sys_main_thread:([\d.]+)/.exec(await redis.info('cpu'))![1]);
await Promise.all(Array.from({length:64},()=>caller(200)));
const c0 = process.cpuUsage(), r0 = await cpu(), t0=performance.now(), n0 = n;
await Promise.all(Array.from({length:64},()=>caller(1000)));
const c1 = process.cpuUsage(c0), r1 = await cpu();
const m = n - n0;
const mem = Number(/used_memory:(\d+)/.exec(await redis.info('memory'))![1]);
console.log('us/key ingest', (c1.user+c1.system)/m, 'redis', (r1-r0)*1e6/m, 'per s', m/(performance.now()-t0)*1000, 'mem', mem, 'dbsize', await redis.dbsize());
redis.disconnect();
