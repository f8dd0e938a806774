import { runAdmin } from '../admin.ts';
import { publicLogKey } from '../sealed-ledger.ts';
import { until } from '../until.ts';
import type { Kubernetes } from './kubernetes.ts';

/**
 * What `verify` says of the organization acme, and its exit code, once a checkpoint covers every
 * event that the release has stored.
 */
export async function verified(kubernetes: Kubernetes, namespace: string): Promise<{ code: number; said: string }> {
  const database = await kubernetes.postgres(namespace);
  const args = ['--organization', 'acme', '--public-key', publicLogKey];
  try {
    return await until(
      'no event waits for a checkpoint',
      async () => {
        const { code, stdout, stderr } = await runAdmin(['verify', ...args], { env: { DATABASE_URL: database.url } });
        const said = `${stdout}${stderr}`;
        return code !== 2 && !said.includes('wait for the next checkpoint') && { code, said };
      },
      240_000,
      1_000,
    );
  } finally {
    await database.close();
  }
}
