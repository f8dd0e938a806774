import { mkdir } from 'node:fs/promises';
import { clientRun } from '../clients/client-run.ts';
import { installClients } from '../clients/clients.ts';
import { compileJava, openApiGenerator, trusting } from '../support/generated/java.ts';
import { expectWorks } from '../support/generated/outcome.ts';
import { programs, Workspace } from '../support/generated/workspace.ts';

describe('a client that an unmodified generator makes registers, reads and exports', () => {
  const shared = clientRun();
  let workspace: Workspace;
  before(async () => {
    workspace = await Workspace.create();
  });
  after(async () => {
    await workspace[Symbol.asyncDispose]();
  });

  it('openapi-generator for Python', async () => {
    await openApiGenerator(workspace, 'python', 'python');
    const bin = await installClients('generated/openapi-generator-requirements.txt');
    const program = { file: `${bin}/python`, args: [`${programs}/openapi_generator_python.py`] };
    await expectWorks(shared.current, { ...program, env: { PYTHONPATH: workspace.path('python') } });
  });

  it('openapi-generator for TypeScript with fetch', async () => {
    await openApiGenerator(workspace, 'typescript-fetch', 'typescript-fetch');
    const program = await workspace.compile('typescript-fetch');
    await expectWorks(shared.current, { file: process.execPath, args: [program] });
  });

  for (const library of ['okhttp-gson', 'native']) {
    it(`openapi-generator for Java, ${library}`, async () => {
      await openApiGenerator(workspace, 'java', library, '--library', library);
      const classes = await compileJava(workspace, library, library);
      const trust = await trusting(workspace, shared.current.certificate);
      await expectWorks(shared.current, { file: 'java', args: [...trust, '-cp', classes, 'Scenario'] });
    });
  }

  it('openapi-generator for Go', async () => {
    await openApiGenerator(workspace, 'go', 'go/openapi', '--additional-properties=withGoMod=false');
    await worksInGo('openapi-generator');
  });

  it('oapi-codegen, from OpenAPI 3.0', async () => {
    const output = ['-generate', 'types,client', '-package', 'oapi', '-o', 'oapi/client.go'];
    await mkdir(workspace.path('go/oapi'));
    await go('tool', 'oapi-codegen', ...output, '../openapi-3.0.yaml');
    await worksInGo('oapi-codegen');
  });

  it('ogen, from OpenAPI 3.0', async () => {
    await go('tool', 'ogen', '--target', 'ogen', '--package', 'ogen', '--clean', '../openapi-3.0.yaml');
    await worksInGo('ogen');
  });

  const go = (...args: string[]): Promise<void> =>
    workspace.run('go', ['-C', 'go', ...args], { GOFLAGS: '-mod=readonly' });

  async function worksInGo(program: string): Promise<void> {
    await go('build', '-o', `bin/${program}`, `./cmd/${program}`);
    await expectWorks(shared.current, { file: workspace.path(`go/bin/${program}`) });
  }
});
