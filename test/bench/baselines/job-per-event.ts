import { Queue, Worker, type Job } from 'bullmq';
import { Redis } from 'ioredis';
import type { EventBody } from './answer.ts';
import { serve } from './koa-front.ts';
import { createStoreOne } from './store-one.ts';

/*
 * The usual design: each request adds a job to a queue, and is answered then; a worker does one job
 * after the other, many at once. `ROLE` says which of the two this process is.
 */
const queueName = 'job-per-event';

interface Task {
  event: EventBody;
  organization: string;
  createdAt: string;
}

const connection = new Redis(process.env['REDIS_URL'] ?? '', { maxRetriesPerRequest: null });

if (process.env['ROLE'] === 'worker') await work();
else accept();

function accept(): void {
  const queue = new Queue<Task>(queueName, { connection, defaultJobOptions: { removeOnComplete: true, attempts: 10 } });
  serve((event, organization, createdAt) =>
    queue.add('event', { event, organization, createdAt: createdAt.toISOString() }),
  );
}

async function work(): Promise<void> {
  const store = createStoreOne();
  const process = async ({ data }: Job<Task>): Promise<void> => {
    await store(data.event, data.organization, new Date(data.createdAt));
  };
  const worker = new Worker<Task>(queueName, process, { connection, concurrency: 50 });
  await worker.waitUntilReady();
  console.log('working');
}
