import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Child } from './child.ts';
import { freePort } from './free-port.ts';
import { goProgram } from './go-program.ts';
import { until } from './until.ts';

/** The environment in which the SDK of AWS finds the server. */
export interface S3Environment {
  AWS_ENDPOINT_URL_S3: string;
  AWS_REGION: string;
  AWS_ACCESS_KEY_ID: string;
  AWS_SECRET_ACCESS_KEY: string;
}

/** A real S3 server, versitygw, on a free port, with the bucket `record` without object lock. */
export class S3Server {
  readonly env: S3Environment;
  readonly #child: Child;
  readonly #folder: string;

  private constructor(env: S3Environment, child: Child, folder: string) {
    this.env = env;
    this.#child = child;
    this.#folder = folder;
  }

  static async start(): Promise<S3Server> {
    const program = await goProgram('s3', 'github.com/versity/versitygw/cmd/versitygw');
    const folder = await mkdtemp(join(tmpdir(), 'runledger-s3-'));
    await mkdir(join(folder, 'buckets', 'record'), { recursive: true });
    await mkdir(join(folder, 'metadata'));
    await mkdir(join(folder, 'versions'));
    const port = await freePort();
    const env = {
      AWS_ENDPOINT_URL_S3: `http://127.0.0.1:${port}`,
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'runledger',
      AWS_SECRET_ACCESS_KEY: 'a-secret-of-tests',
    };
    const kept = ['--sidecar', join(folder, 'metadata'), '--versioning-dir', join(folder, 'versions')];
    const where = ['posix', ...kept, join(folder, 'buckets')];
    const keys = ['--access', env.AWS_ACCESS_KEY_ID, '--secret', env.AWS_SECRET_ACCESS_KEY];
    const child = new Child(program, ['--port', `127.0.0.1:${port}`, ...keys, ...where]);
    const server = new S3Server(env, child, folder);
    try {
      await until('the S3 server listens', () => listens(port, child));
    } catch (error) {
      await server.stop();
      throw new Error(child.output.join('\n'), { cause: error });
    }
    return server;
  }

  async stop(): Promise<void> {
    await this.#child.kill();
    await rm(this.#folder, { recursive: true });
  }
}

async function listens(port: number, child: Child): Promise<boolean> {
  if (!child.alive) throw new Error('the S3 server has ended');
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
