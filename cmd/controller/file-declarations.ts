export { FileDeclarationSource } from '../../internal/controller/declarations/file-source.ts';
