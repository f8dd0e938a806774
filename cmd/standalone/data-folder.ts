import { hash } from 'node:crypto';
import { chmod, mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

/** Longest path of a Unix socket that every system accepts, in bytes. */
const longestSocketPath = 100;

/** The places of standalone's files. */
export interface DataFolder {
  readonly root: string;
  readonly redis: string;
  readonly postgres: string;
  readonly certificate: string;
  readonly key: string;
  readonly tokens: string;
  /** Declarations of automations and channels. */
  readonly automations: string;
  readonly demoToken: string;
  readonly demoReadToken: string;
  readonly demoPingKey: string;
  /**
   * Path of a Unix socket: in the folder, or in the system's temporary folder if the path would be
   * too long.
   */
  socket(name: string): string;
}

/** Creates the folder for this user only, since it will hold a key and tokens. */
export async function createDataFolder(path: string): Promise<DataFolder> {
  const root = resolve(path);
  await mkdir(join(root, 'redis'), { recursive: true });
  await mkdir(join(root, 'tls'), { recursive: true });
  await chmod(root, 0o700);
  return {
    root,
    redis: join(root, 'redis'),
    postgres: join(root, 'postgres'),
    certificate: join(root, 'tls', 'cert.pem'),
    key: join(root, 'tls', 'key.pem'),
    tokens: join(root, 'tokens.yaml'),
    automations: join(root, 'automations.yaml'),
    demoToken: join(root, 'demo-token'),
    demoReadToken: join(root, 'demo-read-token'),
    demoPingKey: join(root, 'demo-ping-key'),
    socket: (name) => {
      const inside = join(root, `${name}.sock`);
      if (Buffer.byteLength(inside) <= longestSocketPath) return inside;
      return join(tmpdir(), `runledger-${hash('sha256', inside).slice(0, 16)}.sock`);
    },
  };
}
