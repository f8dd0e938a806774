import { commands } from '../../cmd/admin/commands.ts';
import { consoleService } from '../../cmd/console/service.ts';
import { controller } from '../../cmd/controller/service.ts';
import { ingest } from '../../cmd/ingest/service.ts';
import { worker } from '../../cmd/worker/service.ts';
import { compactTable } from './compact-table.ts';
import type { ConfigName } from '../../internal/config/read.ts';
import { settings, type SettingName } from '../../internal/config/settings.ts';
import { settingsOf, type Service } from '../../internal/wiring/service.ts';

/** The long-running processes, by name. */
export const services: Record<string, Service> = { ingest, worker, console: consoleService, controller };

/**
 * Which settings each process and command reads: what its `main.ts` reads. Standalone takes those
 * of the others as well.
 */
export const processes: Record<string, readonly ConfigName[]> = {
  ...Object.fromEntries(Object.values(services).map((service) => [service.name, settingsOf(service)])),
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
    return [`\`${name}\``, shown(name as SettingName, value), listOf(users.map(([user]) => user)), desc ?? ''];
  });
  const others = Object.keys(settings).filter((name) => ofOthers.test(name));
  const table = compactTable(['Variable', 'Default', 'Used by', 'Meaning'], rows);
  return `${table}\n\n${wrapped(`These have the meaning that OpenTelemetry and Kubernetes give them: ${listed(others)}.`)}`;
}

/** The users of a setting, in which one word stands for all long-running processes. */
function listOf(users: readonly string[]): string {
  const all = Object.keys(services);
  return all.every((process) => users.includes(process))
    ? ['all processes', ...users.filter((user) => !all.includes(user))].join(', ')
    : users.join(', ');
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
