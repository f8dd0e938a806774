import { consoleSettings } from '../../cmd/console/console.ts';
import { consoleDatabaseSettings } from '../../cmd/console/database.ts';
import { controllerSettings } from '../../cmd/controller/controller.ts';
import { controllerDatabaseSettings } from '../../cmd/controller/database.ts';
import { declarationSettings } from '../../cmd/controller/declaration-settings.ts';
import { jobSettings } from '../../cmd/controller/job-settings.ts';
import { ownerSettings } from '../../cmd/controller/tokens.ts';
import { notifierSettings } from '../../cmd/controller/notifier.ts';
import { commands } from '../../cmd/admin/commands.ts';
import { ingestSettings } from '../../cmd/ingest/ingest.ts';
import { tokenSettings } from '../../internal/wiring/tokens.ts';
import { consoleDatabasesSettings } from '../../cmd/console/databases.ts';
import { databaseSettings } from '../../cmd/worker/database.ts';
import { databasesSettings } from '../../cmd/worker/databases.ts';
import { workerSettings } from '../../cmd/worker/worker.ts';
import { processSettings } from '../../internal/config/process-settings.ts';
import { compactTable } from './api-page.ts';
import type { ConfigName } from '../../internal/config/read.ts';
import { settings, type SettingName } from '../../internal/config/settings.ts';

/** Which settings each process takes. Standalone takes those of the others as well. */
export const processes: Record<string, readonly ConfigName[]> = {
  ingest: [...processSettings, ...ingestSettings, ...tokenSettings],
  worker: [...processSettings, ...workerSettings, ...databaseSettings, ...databasesSettings],
  console: [
    ...processSettings,
    ...consoleSettings,
    ...consoleDatabaseSettings,
    ...consoleDatabasesSettings,
    ...tokenSettings,
    'CONSOLE_DATABASE_URL',
    'DATABASE_URL',
  ],
  controller: [
    ...processSettings,
    ...controllerSettings,
    ...controllerDatabaseSettings,
    ...declarationSettings,
    ...jobSettings,
    ...notifierSettings,
    ...ownerSettings,
    'CONSOLE_PUBLIC_URL',
  ],
  ...Object.fromEntries(Object.entries(commands).map(([name, { declaration }]) => [name, declaration.settings])),
  standalone: ['DATA_DIR', 'CONSOLE_PORT'],
};

/** Variables of OpenTelemetry and Kubernetes, whose own documents describe them. */
const ofOthers = /^(OTEL_|KUBE)/;

/** The table of settings, made from the code that reads them. */
export function settingsTable(): string {
  const own = Object.entries(settings).filter(([name]) => !ofOthers.test(name));
  const rows = own.map(([name, { default: value, desc }]) => {
    const users = Object.entries(processes).filter(([, names]) => names.includes(name as SettingName));
    return [`\`${name}\``, shown(name as SettingName, value), users.map(([user]) => user).join(', '), desc ?? ''];
  });
  const others = Object.keys(settings).filter((name) => ofOthers.test(name));
  const table = compactTable(['Variable', 'Default', 'Used by', 'Meaning'], rows);
  return `${table}\n\n${wrapped(`These have the meaning that OpenTelemetry and Kubernetes give them: ${listed(others)}.`)}`;
}

function listed(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(', ');
}

/** Lines of a paragraph. */
function wrapped(text: string): string {
  return text.replaceAll(/(.{1,99})(?: |$)/g, '$1\n').trimEnd();
}

function shown(
  name: SettingName,
  value: string | number | boolean | URL | readonly (string | URL)[] | undefined,
): string {
  if (Array.isArray(value)) return value.length === 0 ? 'none' : `\`${value.join(',')}\``;
  if (value !== undefined) return `\`${String(value)}\``;
  return 'default' in settings[name] ? 'none' : '**required**';
}
