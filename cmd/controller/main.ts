import { runService } from '../../internal/wiring/service.ts';
import { controller } from './service.ts';

runService(controller);
