import { realpath } from 'node:fs/promises';
import { newApprover } from '../../agent/approvals/approver.ts';
import { newCommandGuard } from '../../agent/approvals/command-guard.ts';
import type { Approver } from '../../agent/approvals/contract.ts';
import type { GatewayPlace } from '../../agent/approvals/path-classes.ts';
import type { Agent } from '../../agent/contract.ts';
import { findingsText, scanForInjection } from '../../agent/injection-scan.ts';
import type { AgentMemory } from '../../agent/memory/agent-memory.ts';
import type { CompleteText } from '../../agent/models/complete-text.ts';
import { variablesForChildren } from '../../agent/session-context.ts';
import { clarifyTool } from '../../agent/tools/clarify.ts';
import type { Tool, ToolContext, ToolSet } from '../../agent/tools/contract.ts';
import { currentTime } from '../../agent/tools/current-time.ts';
import { newChildRunner } from '../../agent/tools/delegation/child-runner.ts';
import { delegateTaskTool } from '../../agent/tools/delegation/delegate-task.ts';
import { fileTools } from '../../agent/tools/files/file-tools.ts';
import { sendMessageTool } from '../../agent/tools/send-message.ts';
import type { SendMessageDeps } from '../../agent/tools/send-message.ts';
import { sessionSearchTool } from '../../agent/tools/session-search.ts';
import type { SkillLibrary } from '../../agent/tools/skills/skill-library.ts';
import { skillManageTool } from '../../agent/tools/skills/skill-manage.ts';
import { skillReadingTools } from '../../agent/tools/skills/skill-tools.ts';
import { openBackend } from '../../agent/tools/terminal/backend.ts';
import { terminalTools } from '../../agent/tools/terminal/terminal-tools.ts';
import { todoTool } from '../../agent/tools/todo.ts';
import type { ToolGroup } from '../../agent/tools/toolsets.ts';
import type { ResolveDeps } from '../../delivery/resolve-target.ts';
import type { Logger } from '../../lib/logger.ts';
import type { Store } from '../../store/store.ts';
import { closedToCommands, foldersOfSession, homesOfOthers } from './closed-folders.ts';
import type { AgentPlace } from './closed-folders.ts';
import type { PrepareOutgoing } from './outgoing-of-agent.ts';
import type { SharedParts } from './shared-parts.ts';
import { withUserHome, workspaceOf } from './work-folders.ts';

export interface ToolsDeps extends AgentPlace {
  readonly store: Store;
  readonly log: Logger;
  readonly shared: SharedParts;
  readonly memory: AgentMemory;
  readonly skills: SkillLibrary;
  readonly complete: () => CompleteText;
  redact(text: string): string;
  childEnvironment(): Readonly<Record<string, string>>;
  /** A variable of the gateway's own environment. */
  environment(name: string): string | undefined;
  /** One of the agent's own variables. */
  variable(name: string): string | undefined;
  /** Tools that need more of the gateway than an agent has. */
  moreTools(approve: Approver): readonly Tool[];
  /** Adds to `command_allowlist`; answers what was wrong. */
  keepAlways(patterns: readonly string[]): Promise<string | undefined>;
  /** What the agent has for an account, and its model with other tools. */
  groupsFor(account: string): readonly ToolGroup[];
  agentWith(tools: ToolSet): Agent;
  readonly targets: ResolveDeps;
  readonly prepare: PrepareOutgoing;
  screenSent: SendMessageDeps['screen'];
  isOwner(person: { readonly account: string; readonly userId: string }): boolean;
}

const workspace = (deps: ToolsDeps): string => workspaceOf({ ...deps, userHome: deps.shared.userHome });

/** Where a conversation begins to work. */
const startFolder = (deps: ToolsDeps, { place }: ToolContext): string => place.workdir ?? workspace(deps);

const approverOf = (deps: ToolsDeps): Approver =>
  newApprover({
    store: deps.store,
    log: deps.log,
    settings: () => deps.settings(),
    attended: ({ attended, asyncDelivery }) => attended ?? asyncDelivery,
    keepAlways: (patterns) => deps.keepAlways(patterns),
    complete: (request, signal) => deps.complete()(request, signal),
  });

/** Where the gateway and the agent live, by every name that a command may have for it. */
const placeOf = async (deps: ToolsDeps): Promise<GatewayPlace> => {
  const { home, agentHome, shared } = deps;
  return {
    home,
    homes: [...new Set([agentHome, ...(await Promise.all([realpath(home), realpath(agentHome)]))])].filter((path) => path !== home),
    open: [workspace(deps), ...deps.settings().files.roots.map((root) => withUserHome(root, shared.userHome))],
  };
};

const terminalOf = async (deps: ToolsDeps, approve: Approver): Promise<readonly Tool[]> => {
  const { shared } = deps;
  const settings = deps.settings().terminal;
  const backend = await openBackend({ settings, workspace: workspace(deps), userHome: shared.userHome, path: deps.childEnvironment()['PATH'] ?? '', environment: (name) => deps.environment(name) });
  const guard = newCommandGuard({
    approve,
    settings: () => deps.settings(),
    facts: { home: shared.userHome, parentPid: process.pid, gateway: { ...(await placeOf(deps)), pid: process.pid, commandLine: process.argv.join(' ') } },
    others: (sessionId) => closedToCommands(deps, sessionId),
    isOwner: (person) => deps.isOwner(person),
  });
  return terminalTools({
    backend,
    guard,
    processes: shared.processes,
    folders: shared.folders,
    startFolder: (context) => startFolder(deps, context),
    environment: () => ({ ...deps.childEnvironment(), ...variablesForChildren() }),
    redact: (text) => deps.redact(text),
    userHome: shared.userHome,
    timeoutSeconds: settings.timeout,
  });
};

const filesOf = (deps: ToolsDeps, approve: Approver, workdir: (context: ToolContext) => string): readonly Tool[] => {
  const { home, agentHome, shared } = deps;
  const { roots, read_roots, write_root } = deps.settings().files;
  return fileTools({
    home,
    agentHome,
    userHome: shared.userHome,
    workdir,
    roots: [workspace(deps), ...roots],
    readRoots: read_roots,
    ownFolders: ({ sessionId }) => foldersOfSession(deps, sessionId),
    otherHomes: () => homesOfOthers(deps),
    approve,
    redact: (text) => deps.redact(text),
    state: shared.files,
    ...(write_root !== undefined && { writeRoot: write_root }),
  });
};

const helpersOf = (deps: ToolsDeps): Tool =>
  delegateTaskTool({
    delegations: deps.shared.delegations,
    run: newChildRunner({ groups: (place) => deps.groupsFor(place.target.account), agent: (tools) => deps.agentWith(tools) }),
    groups: ({ place }) => deps.groupsFor(place.target.account),
    settings: () => deps.settings().delegation,
  });

const messagesOf = (deps: ToolsDeps, approve: Approver): Tool =>
  sendMessageTool({
    store: deps.store,
    home: deps.home,
    targets: deps.targets,
    approve,
    screen: (text, to, context) => deps.screenSent(text, to, context),
    prepare: (text, { account, context }, signal) => deps.prepare(text, { account, sessionId: context.sessionId }, signal),
    isOwner: (person) => deps.isOwner(person),
  });

/** Every tool of an agent but those of MCP servers, the web and its surroundings, which come and go with the settings. */
export const toolsOfAgent = async (deps: ToolsDeps): Promise<readonly Tool[]> => {
  const approve = approverOf(deps);
  const { shared, skills, memory } = deps;
  const workdir = (context: ToolContext): string => shared.folders.of(context.sessionId) ?? startFolder(deps, context);
  return [
    ...filesOf(deps, approve, workdir),
    ...(await terminalOf(deps, approve)),
    ...memory.tools,
    sessionSearchTool(deps.store),
    ...skillReadingTools({ library: skills, hasVariable: (name) => deps.variable(name) !== undefined || deps.childEnvironment()[name] !== undefined }),
    skillManageTool({
      library: skills,
      approve,
      needsApproval: () => deps.settings().skills.write_approval,
      scan(text) {
        const findings = scanForInjection(text, 'strict');
        return findings.length === 0 ? undefined : findingsText(findings);
      },
    }),
    todoTool,
    messagesOf(deps, approve),
    helpersOf(deps),
    clarifyTool(() => deps.settings().clarify.timeout),
    currentTime,
    ...deps.moreTools(approve),
  ];
};
