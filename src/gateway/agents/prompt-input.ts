import { readIdentity, readProjectContext } from '../../agent/context-files.ts';
import type { AgentMemory } from '../../agent/memory/agent-memory.ts';
import { memorySessionOf } from '../../agent/memory/places.ts';
import { idForModel } from '../../agent/privacy.ts';
import type { PromptInput } from '../../agent/prompt.ts';
import type { SkillLibrary } from '../../agent/tools/skills/skill-library.ts';
import { skillsIndex, visibleSkills } from '../../agent/tools/skills/visible-skills.ts';
import type { ToolGroup } from '../../agent/tools/toolsets.ts';
import type { Platform } from '../../platforms/contract.ts';
import type { BegunTurn } from '../../sessions/begin.ts';
import type { Session } from '../../store/sessions/sessions.ts';
import type { GatewaySettings } from '../settings.ts';
import { contextOfJob } from './job-folders.ts';

/** What a prompt says about where the agent writes. */
export type PromptPlatform = Pick<Platform, 'name' | 'label' | 'hints' | 'hidesIds'>;

/** What a prompt depends on. */
export interface PromptedTurn {
  readonly session: Pick<Session, 'id' | 'agent' | 'account' | 'userId' | 'chatType'>;
  readonly turn: Pick<BegunTurn['turn'], 'target'>;
  readonly last: BegunTurn['last'];
}

/** Who is prompted. */
export interface PromptedAgent {
  readonly id: string;
  /** The gateway's. */
  readonly home: string;
  readonly userHome: string;
  readonly agentHome: string;
  readonly workspace: string;
  readonly settings: GatewaySettings;
  readonly memory: AgentMemory;
  readonly skills: SkillLibrary;
}

/** Where it is prompted, and with what at hand. */
export interface PromptPlace {
  readonly platform: PromptPlatform | undefined;
  readonly connected: readonly string[];
  /** Of its tools. */
  readonly names: readonly string[];
  readonly groups: readonly ToolGroup[];
  /** Of a job that has a folder of its own. */
  readonly workdir?: string | undefined;
}

/** Everything that the system prompt of an agent says, read anew. */
export const promptInputOf = async (agent: PromptedAgent, { session, turn, last }: PromptedTurn, place: PromptPlace): Promise<PromptInput> => {
  const { home, userHome, agentHome, settings } = agent;
  const { platform, workdir } = place;
  const [identity, project, memory] = await Promise.all([
    readIdentity(agentHome),
    workdir === undefined ? readProjectContext(agent.workspace, agentHome) : contextOfJob({ home, userHome, settings: () => settings }, agent.id, workdir),
    agent.memory.promptBlocks(memorySessionOf(session, { platform: platform?.name ?? session.account, target: turn.target, ...(last !== undefined && { sender: last.event.sender }) })),
  ]);
  const skills = skillsIndex(visibleSkills(agent.skills.shelf.skills, place.groups));
  return {
    ...identity,
    tools: place.names,
    memory,
    ...(skills !== undefined && { skills }),
    ...(project !== undefined && { project }),
    ...(platform !== undefined && {
      hints: platform.hints,
      session: {
        platformLabel: platform.label,
        chatType: session.chatType,
        shared: session.userId === null,
        ...(session.userId !== null && { userId: idForModel(session.userId, settings.privacy, platform) }),
        connected: place.connected,
        homes: [],
        targets: [],
      },
    }),
  };
};
