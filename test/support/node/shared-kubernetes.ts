import { Kubernetes, reasonNotToRun } from './kubernetes.ts';

let kubernetes: Kubernetes | undefined;

/** Started once a run, before the first test. A machine that cannot run it says so in one line. */
export async function mochaGlobalSetup(): Promise<void> {
  const reason = await reasonNotToRun();
  if (reason !== undefined) return console.log(reason);
  kubernetes = await Kubernetes.start();
}

export async function mochaGlobalTeardown(): Promise<void> {
  await kubernetes?.stop();
}

/** Without the cluster every test counts as skipped. */
export const mochaHooks = {
  beforeAll(this: Mocha.Context): void {
    if (kubernetes === undefined) this.skip();
  },
};

/** The run's cluster. */
export function sharedKubernetes(): Kubernetes {
  if (kubernetes === undefined)
    throw new Error('test/support/node/shared-kubernetes.ts is not among the required modules');
  return kubernetes;
}
