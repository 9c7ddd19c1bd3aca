import type { AgentMemory } from '../agent/memory/agent-memory.ts';
import type { HelperView } from '../agent/tools/delegation/helpers.ts';
import type { McpServers } from '../agent/tools/mcp/servers.ts';
import type { SkillLibrary } from '../agent/tools/skills/skill-library.ts';
import type { Processes } from '../agent/tools/terminal/processes.ts';
import type { ToolGroup, ToolPlace } from '../agent/tools/toolsets.ts';
import type { JobRules } from '../cron/job-request.ts';
import type { Hooks } from '../hooks/hooks.ts';
import type { VoiceMode } from '../sessions/media/wants-speech.ts';

/** What people may see and decide of a memory. */
export type MemoryReach = Pick<AgentMemory, 'entries' | 'change' | 'status'>;

/** The tools there are, and those that an agent has at a place. */
export interface ToolsReach {
  readonly all: readonly ToolGroup[];
  readonly selected: readonly ToolGroup[];
}

export type SkillsReach = Pick<SkillLibrary, 'shelf' | 'find' | 'reload'>;

/** What an agent can do with voices. */
export interface VoiceReach {
  /** Voice messages are written down. */
  readonly hears: boolean;
  /** Answers can be spoken. */
  readonly speaks: boolean;
  /** Which answers are, where nobody has chosen otherwise. */
  readonly usual: VoiceMode;
}

export type McpReach = Pick<McpServers, 'report' | 'reconnect'>;

export type HooksReach = Pick<Hooks, 'report' | 'reload'>;

/**
 * What a command can reach beyond the store, lent by the gateway. What answers at once may be used in `run`; what answers with a promise
 * belongs into `after`. A field is optional where not every gateway can offer it. A command that needs more adds a field here.
 */
export interface Reach {
  /** Where files that are sent to chats lie. */
  readonly mediaFolder: string;
  /** Takes secrets out of a text. */
  redact(text: string): string;
  /** What a process that a command starts may know of our environment: no secrets. */
  childEnvironment(): Readonly<Record<string, string>>;
  /** Whether files can be sent by this account. */
  sendsFiles(account: string): boolean;
  /** Ends this gateway in order and starts it again; absent where nobody would start it. */
  readonly restart?: (askedBy: string) => void;
  /** Writes a setting into config.yaml; answers what was wrong with it. Absent where the files are not this process's to write. */
  readonly changeSetting?: (path: string, value: string) => Promise<string | undefined>;
  /** Names of the models that the configured provider offers; none where it has no list. */
  listModels(signal: AbortSignal): Promise<readonly string[]>;
  /** What an agent keeps beyond its conversations; absent where it keeps nothing. */
  readonly memory?: (agent: string) => MemoryReach | undefined;
  /** Absent where another program is the agent. */
  readonly tools?: (place: ToolPlace) => ToolsReach;
  readonly skills?: (agent: string) => SkillsReach | undefined;
  readonly mcp?: McpReach;
  /** What a scheduled job may be. */
  readonly cron?: JobRules;
  readonly hooks?: HooksReach;
  /** Programs that run in the background of a conversation. */
  readonly processes?: Pick<Processes, 'hasLive' | 'killOf' | 'of'>;
  /** Helpers of a conversation that this gateway knows of. */
  readonly helpers?: (sessionId: string) => readonly HelperView[];
  readonly voice?: (agent: string) => VoiceReach | undefined;
}
