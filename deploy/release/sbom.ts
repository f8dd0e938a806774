import { readFileSync } from 'node:fs';

/** The fields of a CycloneDX document that differ from one build of the same commit to the next. */
interface Bom {
  serialNumber?: string;
  readonly metadata: { timestamp?: string; readonly component: { name: string; type: string } };
}

/*
 * Reads a CycloneDX document, and prints it without the time, the random number and the name of the
 * folder of its making.
 */
const bom = JSON.parse(readFileSync(0, 'utf8')) as Bom;
delete bom.serialNumber;
delete bom.metadata.timestamp;
Object.assign(bom.metadata.component, { name: 'runledger', type: 'application' });
process.stdout.write(`${JSON.stringify(bom, null, 2)}\n`);
