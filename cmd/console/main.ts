import { runService } from '../../internal/wiring/service.ts';
import { consoleService } from './service.ts';

runService(consoleService);
