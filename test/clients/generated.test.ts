import { expectWorks } from '../support/generated/outcome.ts';
import { programs, Workspace } from '../support/generated/workspace.ts';
import { clientRun } from './client-run.ts';
import { installClients } from './clients.ts';

describe('a client that an unmodified generator makes of openapi.yaml registers, reads and exports', function suite() {
  this.timeout(180_000);
  const shared = clientRun();
  let workspace: Workspace;
  before(async () => {
    workspace = await Workspace.create();
  });
  after(async () => {
    await workspace[Symbol.asyncDispose]();
  });
  const works = async (program: string): Promise<void> =>
    expectWorks(shared.current, { file: process.execPath, args: [await workspace.compile(program)] });

  it('openapi-typescript, with openapi-fetch', async () => {
    await workspace.runPackaged('openapi-typescript', ['openapi.json', '-o', 'openapi-typescript/schema.ts']);
    await works('openapi-fetch');
  });

  it('hey-api', async () => {
    await workspace.runPackaged('openapi-ts', ['-i', 'openapi.json', '-o', 'hey-api']);
    await works('hey-api');
  });

  it('orval', async () => {
    const output = ['--output', 'orval/client.ts', '--client', 'fetch'];
    await workspace.runPackaged('orval', ['--input', 'openapi.json', ...output]);
    await works('orval');
  });

  it('openapi-python-client', async () => {
    const bin = await installClients('generated/requirements.txt');
    const args = ['generate', '--path', 'openapi.json', '--output-path', 'python'];
    await workspace.run(`${bin}/openapi-python-client`, args, { PATH: `${bin}:${process.env['PATH']}` });
    const everyModule = `import pkgutil, importlib, runledger_client as client
for module in pkgutil.walk_packages(client.__path__, "runledger_client."): importlib.import_module(module.name)`;
    const env = { PYTHONPATH: workspace.path('python') };
    await workspace.run(`${bin}/python`, ['-c', everyModule], env);
    await expectWorks(shared.current, { file: `${bin}/python`, args: [`${programs}/openapi_python_client.py`], env });
  });
});
