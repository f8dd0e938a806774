import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { World } from './world.ts';

/** The token of an organization that {@link writeTokens} knows. */
export function tokenOf(organization: string): string {
  return `benchmark-token-of-${organization}`;
}

/** Writes the tokens of organizations into a file, for `TOKENS_FILE`. Returns its path. */
export async function writeTokens(world: World, tokens: ReadonlyMap<string, string>): Promise<string> {
  const file = join(world.folder, 'tokens-of-all.yaml');
  const secrets = [...tokens].map(
    ([organization, secret]) =>
      `---\nkind: Secret\nmetadata:\n  name: ${organization}\n  labels: { runledger.dev/organization: ${organization} }\nstringData: { token-1: ${secret} }\n`,
  );
  await writeFile(file, secrets.join(''));
  return file;
}
