import { agents } from './agents.ts';
import { background } from './background.ts';
import { branch } from './branch.ts';
import { busy } from './busy.ts';
import { compress } from './compress.ts';
import { context } from './context.ts';
import { insights } from './insights.ts';
import { memory } from './memory.ts';
import { personality } from './personality.ts';
import { reloadMcp } from './reload-mcp.ts';
import { reloadHooks } from './reload-hooks.ts';
import { reloadSkills } from './reload-skills.ts';
import { skills } from './skills.ts';
import { tools } from './tools.ts';
import { toolsets } from './toolsets.ts';
import { commandsOfSkills } from './skill-commands.ts';
import type { Skill } from '../agent/tools/skills/load-skills.ts';
import { approve } from './approve.ts';
import { deny } from './deny.ts';
import { approvals } from './approvals.ts';
import { yolo } from './yolo.ts';
import type { Command } from './contract.ts';
import { cron } from './cron.ts';
import { debug } from './debug.ts';
import { footer } from './footer.ts';
import { handoff } from './handoff.ts';
import { help } from './help.ts';
import { history } from './history.ts';
import { listCommands } from './list-commands.ts';
import { model } from './model.ts';
import { newConversation } from './new.ts';
import { pair } from './pair.ts';
import { platform } from './platform.ts';
import { queue } from './queue.ts';
import { quickCommands } from './quick.ts';
import { reasoning } from './reasoning.ts';
import { restart } from './restart.ts';
import { resume } from './resume.ts';
import { retry } from './retry.ts';
import { save } from './save.ts';
import { sessions } from './sessions.ts';
import { setHome } from './sethome.ts';
import type { CommandSettings } from './settings.ts';
import { start } from './start.ts';
import { status } from './status.ts';
import { steer } from './steer.ts';
import { stop } from './stop.ts';
import { title } from './title.ts';
import { undo } from './undo.ts';
import { usage } from './usage.ts';
import { verbose } from './verbose.ts';
import { version } from './version.ts';
import { voice } from './voice.ts';
import { whoami } from './whoami.ts';

/** In the order in which menus offer them: what is used most comes first. */
export const commands: readonly Command[] = [
  newConversation,
  stop,
  status,
  queue,
  steer,
  background,
  agents,
  approve,
  deny,
  retry,
  undo,
  title,
  branch,
  resume,
  sessions,
  handoff,
  history,
  save,
  compress,
  context,
  model,
  reasoning,
  personality,
  busy,
  verbose,
  footer,
  voice,
  tools,
  toolsets,
  skills,
  memory,
  cron,
  approvals,
  yolo,
  setHome,
  pair,
  platform,
  reloadMcp,
  reloadSkills,
  reloadHooks,
  restart,
  help,
  listCommands,
  start,
  usage,
  insights,
  whoami,
  version,
  debug,
];

/** The registry, the owner's own commands and every skill by name. A name that comes earlier cannot be taken over. */
export const allCommands = (settings: Pick<CommandSettings, 'quick_commands'>, skills: readonly Skill[] = []): readonly Command[] => {
  const free = (taken: readonly Command[], more: readonly Command[]): readonly Command[] => more.filter(({ name }) => !taken.some((command) => isCalled(command, name)));
  const quick = free(commands, quickCommands(settings.quick_commands));
  const known = quick.length === 0 ? commands : [...commands, ...quick];
  return skills.length === 0 ? known : [...known, ...free(known, commandsOfSkills(skills))];
};

export type Resolved =
  | { readonly type: 'command'; readonly command: Command }
  | { readonly type: 'ambiguous'; readonly candidates: readonly Command[] }
  | { readonly type: 'unknown' };

/** Menus write `_` where a name has `-`. */
const plain = (name: string): string => name.replaceAll('_', '-');

const namesOf = (command: Command): readonly string[] => [command.name, ...command.aliases].map(plain);

/** Whether this is the whole name of the command or one of its aliases. */
export const isCalled = (command: Command, name: string): boolean => namesOf(command).includes(plain(name));

/** Exact names and aliases among `all` first, then the start of a name if only one of `usable` fits. */
export const resolveCommand = (name: string, all: readonly Command[] = commands, usable: readonly Command[] = all): Resolved => {
  const exact = all.find((command) => isCalled(command, name));
  if (exact !== undefined) return { type: 'command', command: exact };
  const candidates = usable.filter((command) => namesOf(command).some((known) => known.startsWith(plain(name))));
  const [only, ...others] = candidates;
  if (only === undefined) return { type: 'unknown' };
  return others.length === 0 ? { type: 'command', command: only } : { type: 'ambiguous', candidates };
};
