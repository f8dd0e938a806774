export { FileDeclarationSource } from '../../internal/automations/file-source.ts';
