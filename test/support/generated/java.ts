import { execFile } from 'node:child_process';
import { existsSync, globSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cache, type Workspace } from './workspace.ts';

const version = '7.25.0';
const folder = join(cache, `openapi-generator-${version}`);
const execute = promisify(execFile);
const maven = ['-q', '--batch-mode'];

/** Makes a client with openapi-generator, in the folder `output` of the workspace. */
export async function openApiGenerator(
  workspace: Workspace,
  generator: string,
  output: string,
  ...options: string[]
): Promise<void> {
  const jar = join(await generatorFolder(), `openapi-generator-cli-${version}.jar`);
  // The first compiler alone: it runs for five seconds.
  const java = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-jar', jar];
  await workspace.run('java', [...java, 'generate', '-g', generator, '-i', 'openapi.json', '-o', output, ...options]);
}

/** Compiles a Java client with the libraries of its own pom.xml, and the program that uses it. */
export async function compileJava(workspace: Workspace, client: string, program: string): Promise<string> {
  const libraries = await once(`${client}-libraries`, async (partial) => {
    const copy = ['dependency:copy-dependencies', '-DincludeScope=compile', `-DoutputDirectory=${partial}`];
    await execute('mvn', [...maven, ...copy], { cwd: workspace.path(client) });
  });
  const classes = workspace.path(`${client}-classes`);
  await mkdir(classes);
  const sources = globSync(`${client}/src/main/java/**/*.java`, { cwd: workspace.folder });
  const own = ['java/Scenario.java', `java/${program}/Clients.java`];
  const compiler = ['-J-XX:TieredStopAtLevel=1', '-nowarn', '-proc:none', '-cp', `${libraries}/*`, '-d', classes];
  await workspace.run('javac', [...compiler, ...sources, ...own]);
  return `${classes}:${libraries}/*`;
}

/** A store with the certificate to trust, as Java wants it; gives the options that name it. */
export async function trusting(workspace: Workspace, certificate: string): Promise<string[]> {
  const [store, password] = [workspace.path('trusted.p12'), 'changeit'];
  const form = ['-storetype', 'PKCS12', '-storepass', password, '-keystore', store];
  if (!existsSync(store)) await workspace.run('keytool', ['-importcert', '-noprompt', '-file', certificate, ...form]);
  return [`-Djavax.net.ssl.trustStore=${store}`, `-Djavax.net.ssl.trustStorePassword=${password}`];
}

function generatorFolder(): Promise<string> {
  return once('generator', async (partial) => {
    const artifact = `org.openapitools:openapi-generator-cli:${version}`;
    await execute('mvn', [...maven, 'dependency:copy', `-Dartifact=${artifact}`, `-DoutputDirectory=${partial}`]);
  });
}

/** A folder of the cache, which `make` fills the first time. */
async function once(name: string, make: (partial: string) => Promise<void>): Promise<string> {
  const complete = join(folder, name);
  if (existsSync(complete)) return complete;
  await mkdir(folder, { recursive: true });
  const partial = await mkdtemp(`${complete}-`);
  try {
    await make(partial);
    await rename(partial, complete);
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
  return complete;
}
