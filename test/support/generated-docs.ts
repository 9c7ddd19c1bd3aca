import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { sections } from '../../src/cli/configuration/settings.ts';
import type { Command } from '../../src/commands/contract.ts';
import { commands } from '../../src/commands/registry.ts';
import { describeSettings } from '../../src/config/settings/describe-settings.ts';
import type { SettingDescription } from '../../src/config/settings/describe-settings.ts';
import { hookEvents } from '../../src/hooks/events.ts';
import { loadPlatform } from '../../src/platforms/load-platform.ts';
import { platforms as ours } from '../../src/platforms/registry.ts';

const irc = await loadPlatform('./examples/irc-platform', fileURLToPath(new URL('../..', import.meta.url)));

/** Also one that lives outside, for its page. */
const platforms = irc.ok ? [...ours, irc.platform] : ours;

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

const row = (setting: SettingDescription): string => {
  const notes = [setting.secret ? 'secret' : '', setting.reload === 'restart' ? 'needs a restart' : '', setting.aliases.length > 0 ? `also \`${setting.aliases.join('`, `')}\`` : ''].filter((note) => note !== '');
  const about = [setting.description, ...notes.map((note) => `(${note})`)].join(' ');
  return `| \`${setting.path}\` | ${cell(setting.type)} | ${setting.default === undefined ? (setting.required ? '**required**' : '') : `\`${cell(setting.default)}\``} | ${setting.variable === undefined ? '' : `\`${setting.variable}\``} | ${cell(about)} |`;
};

const settingsTable = (settings: readonly SettingDescription[]): string => ['| setting | type | default | variable | about |', '|---|---|---|---|---|', ...settings.map(row)].join('\n');

const roles: Readonly<Record<NonNullable<Command['role']>, string>> = { guest: 'everybody', user: 'users', admin: 'admins' };

const places: Readonly<Record<NonNullable<Command['surfaces']>[number], string>> = { chat: 'chats', page: 'the page', terminal: 'the terminal', machine: 'calls of programs' };

const commandRow = (command: Command): string => {
  const only = command.surfaces === undefined ? '' : ` Only in ${command.surfaces.map((surface) => places[surface]).join(' and ')}.`;
  const gate = command.gate === undefined ? '' : ` In chats only with \`${command.gate.setting}\`.`;
  const also = command.aliases.map((alias) => `\`/${alias}\``).join(' ');
  return `| \`/${command.name}${command.args === undefined ? '' : ` ${cell(command.args)}`}\` | ${also} | ${cell(command.description)}.${only}${gate} | ${roles[command.role ?? 'user']} | ${command.whileRunning} |`;
};

const commandsTable = (): string => ['| command | also | about | for | while a turn runs |', '|---|---|---|---|---|', ...commands.map(commandRow)].join('\n');

/** What every event with a place tells, which need not be said for each. */
const everywhere: readonly string[] = ['agent_id', 'platform', 'account', 'user_id', 'user_name', 'chat_id', 'chat_type', 'thread_id'];

const hooksTable = (): string => {
  const rows = Object.entries(hookEvents).map(([name, { about, answers, sample }]) => {
    const place = 'chat_id' in sample;
    const fields = Object.keys(sample).filter((field) => !place || !everywhere.includes(field)).map((field) => `\`${field}\``);
    return `| \`${name === 'command:*' ? 'command:<name>' : name}\` | ${cell(about)} | ${[...(place ? ['place'] : []), ...fields].join(', ')} | ${answers ?? ''} |`;
  });
  return ['| event | when | tells | answers |', '|---|---|---|---|', ...rows].join('\n');
};

/** What stands between the marks of a page, by the name of the mark. */
export const generatedBlocks = (): ReadonlyMap<string, string> => {
  const all = describeSettings(sections, platforms);
  const isPlatform = (setting: SettingDescription, name: string): boolean => setting.path.startsWith(`platforms.${name}.`);
  const blocks = new Map<string, string>([
    ['settings', settingsTable(all.filter((setting) => !setting.path.startsWith('platforms.')))],
    ['account settings', settingsTable(all.filter((setting) => isPlatform(setting, '<platform>')))],
    ['commands', commandsTable()],
    ['hook events', hooksTable()],
    ['webhooks_out settings', settingsTable(all.filter((setting) => setting.path.startsWith('webhooks_out')))],
  ]);
  for (const platform of platforms) {
    blocks.set(`${platform.name} settings`, settingsTable(all.filter((setting) => isPlatform(setting, platform.name))));
    const exceptions = Object.entries(platform.exceptions);
    blocks.set(`${platform.name} exceptions`, exceptions.length === 0 ? 'None: every clause of the conformance suite is met.' : exceptions.map(([clause, reason]) => `- ${clause}: ${reason}`).join('\n'));
  }
  return blocks;
};

const mark = /<!-- generated: ([^>]+) -->\n[\s\S]*?<!-- end -->/g;

/** The page with its generated parts as they have to be. */
export const refresh = (page: string): string => {
  const blocks = generatedBlocks();
  return page.replaceAll(mark, (_whole, name: string) => {
    const block = blocks.get(name);
    if (block === undefined) throw new Error(`nothing is called "${name}" among what can be generated`);
    return `<!-- generated: ${name} -->\n${block}\n<!-- end -->`;
  });
};

export const root = fileURLToPath(new URL('../..', import.meta.url));

export const refreshFile = (path: string): void => writeFileSync(path, refresh(readFileSync(path, 'utf8')));
