import type { AcceptedEvent } from '../../../internal/event/event.ts';

type Kind = AcceptedEvent['kind'];

const progress: Readonly<Record<Kind, readonly string[]>> = {
  START: ['Run begins', 'Started by the schedule', 'بدأ التشغيل', 'Inizio'],
  EVENT: [
    'Read 1,240 rows from the staging table',
    'Page 3 of 9 is done',
    'Uploaded /exports/2026/11/part-0004.parquet.zst (48.1 MiB)',
    'https://erp.acme.example/api/v3/purchase-orders?status=open&page=7&sort=-updated_at answered 200 in 812 ms',
    '確認済み: 214 件',
    'Wrote 17 labels 📦',
  ],
  WARNING: [
    'The source answers slowly: 9.2 s for one page',
    'Skipped 3 rows without a supplier',
    'Retrying after 429 (attempt 2 of 5)',
  ],
  ERROR: [],
  END: ['Done', 'All rows are in place', 'اكتمل', 'Finished without differences'],
};

/** A text as automations write them. `share` chooses it, from 0 to 1. */
export function progressOf(share: number, kind: Kind): string {
  const texts = progress[kind];
  return texts[Math.floor(share * texts.length)] ?? '';
}

const javaTrace = [
  'java.net.SocketTimeoutException: Read timed out after 30000 ms while waiting for https://portal.example/export',
  ...Array.from(
    { length: 34 },
    (_, depth) => `\tat com.acme.rpa.portal.Step${depth}.run(Step${depth}.java:${40 + depth * 3})`,
  ),
  'Caused by: java.io.IOException: Connection reset by peer',
  ...Array.from({ length: 6 }, (_, depth) => `\tat sun.nio.ch.SocketDispatcher.read${depth}(SocketDispatcher.java:47)`),
  '\t... 34 more',
].join('\n');

const pythonTrace = [
  'Traceback (most recent call last):',
  ...Array.from(
    { length: 9 },
    (_, depth) =>
      `  File "/opt/bots/settlement/step_${depth}.py", line ${12 + depth * 7}, in run\n    return self.next(batch)`,
  ),
  'decimal.InvalidOperation: amount "1.234,56" of payment 88213 is not a number',
].join('\n');

const failures = [
  { errorId: 'E-TIMEOUT', description: 'The portal did not answer', errorDescription: javaTrace },
  { errorId: 'E-PARSE', description: 'A payment cannot be read', errorDescription: pythonTrace },
  {
    errorId: 'E-LAYOUT',
    description: '',
    errorDescription:
      'ElementNotFound: no button "Export" on /reports\n  at click (steps/export.js:12:9)\n  at run (main.js:24:5)',
  },
  { errorId: 'E-LOGIN', description: 'The password has expired', errorDescription: '' },
  { errorId: '', description: 'exit status 137', errorDescription: 'Killed' },
  {
    errorId: 'com.acme.erp.integration.purchasing.PurchaseOrderSynchronizationFailedException',
    description: 'فشلت مزامنة أوامر الشراء',
    errorDescription: 'Order 4711 has no supplier.',
  },
] as const;

/** The texts of an ERROR. The first causes are the most frequent ones. */
export function failureOf(share: number): Pick<AcceptedEvent, 'errorId' | 'description' | 'errorDescription'> {
  const [first] = failures;
  return failures[Math.floor(share ** 1.5 * failures.length)] ?? first;
}
