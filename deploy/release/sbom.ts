import { readFileSync } from 'node:fs';

interface Component {
  readonly 'bom-ref': string;
  readonly properties?: readonly { readonly name: string; readonly value: string }[];
}

interface Bom {
  serialNumber?: string;
  readonly metadata: { timestamp?: string; readonly component: { name: string; type: string } };
  components: Component[];
  dependencies: { readonly ref: string; readonly dependsOn?: readonly string[] }[];
}

/** Only for tests and checks. `npm sbom --omit=dev` would leave out what these need too. */
const isForDevelopment = ({ properties = [] }: Component): boolean =>
  properties.some(({ name, value }) => name === 'cdx:npm:package:development' && value === 'true');

/*
 * Reads a CycloneDX document, and prints what is shipped, without the time, the random number and
 * the name of the folder of its making.
 */
const bom = JSON.parse(readFileSync(0, 'utf8')) as Bom;
delete bom.serialNumber;
delete bom.metadata.timestamp;
Object.assign(bom.metadata.component, { name: 'runledger', type: 'application' });
const left = new Set(bom.components.filter(isForDevelopment).map((component) => component['bom-ref']));
bom.components = bom.components.filter((component) => !left.has(component['bom-ref']));
bom.dependencies = bom.dependencies
  .filter(({ ref }) => !left.has(ref))
  .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((one) => !left.has(one)) }));
process.stdout.write(`${JSON.stringify(bom, null, 2)}\n`);
