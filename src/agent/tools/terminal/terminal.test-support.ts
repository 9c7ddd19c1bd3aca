import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sampleTarget } from '../../../../test/support/samples.ts';
import { silentLogger } from '../../../lib/logger.ts';
import { newRedactor } from '../../../lib/redact.ts';
import { scrubbedEnvironment } from '../../../lib/scrubbed-environment.ts';
import { openStore } from '../../../store/open.ts';
import type { Store } from '../../../store/store.ts';
import { newApprover } from '../../approvals/approver.ts';
import { newCommandGuard } from '../../approvals/command-guard.ts';
import type { ApprovalSettings } from '../../approvals/options.ts';
import { allowlistSection, approvalsSection } from '../../approvals/options.ts';
import type { Answer, Question } from '../../../core/question.ts';
import { systemClock } from '../../../lib/clock.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Tool, ToolContext } from '../contract.ts';
import { toolSet } from '../tool-set.ts';
import { openBackend } from './backend.ts';
import type { Backend } from './backend.ts';
import { terminalSection } from './options.ts';
import { Processes } from './processes.ts';
import type { ProcessNotice, ProcessesDeps } from './processes.ts';
import { newSessionFolders } from './session-folders.ts';
import { terminalTools } from './terminal-tools.ts';

/** The folders in which programs are looked for on any machine. */
export const programPath = '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin';

export interface FakeContext extends ToolContext {
  readonly questions: Question[];
}

/** A turn of one conversation; questions are kept, and answered as told. */
export const fakeContext = (facts: Partial<Pick<ToolContext, 'sessionId' | 'asyncDelivery' | 'clock'>> & { readonly answer?: (question: Question) => Answer } = {}): FakeContext => {
  const questions: Question[] = [];
  return {
    sessionId: facts.sessionId ?? 's1',
    turnId: 't1',
    callId: 'c1',
    place: { agent: 'main', platform: 'telegram', target: sampleTarget(), sender: { id: 'ada', isBot: false } },
    clock: facts.clock ?? systemClock,
    asyncDelivery: facts.asyncDelivery ?? true,
    alive: () => undefined,
    async ask(question) {
      questions.push(question);
      return facts.answer?.(question) ?? { type: 'expired' };
    },
    questions,
  };
};

type Test = { after(step: () => Promise<void>): void };

/** Undoes what a test has set up, last things first. */
const newCleanup = (test: Test): ((step: () => Promise<void>) => void) => {
  const steps: (() => Promise<void>)[] = [];
  test.after(async () => {
    for (const step of steps.toReversed()) await step();
  });
  return (step) => void steps.push(step);
};

/** A folder that is gone at the end of the test. */
export const temporaryFolder = async (test: Test): Promise<string> => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'hermes-terminal-')));
  test.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
};

/** Waits for something that happens by itself, for as long as a slow machine may need. */
export const until = async (condition: () => boolean | Promise<boolean>, clock: Clock = systemClock): Promise<void> => {
  for (let i = 0; i < 12_000; i += 1) {
    if (await condition()) return;
    await clock.sleep(5);
  }
  throw new Error(`this did not happen: ${condition.toString()}`);
};

export interface Bench {
  readonly folder: string;
  readonly store: Store;
  readonly processes: Processes;
  readonly backend: Backend;
  readonly notices: ProcessNotice[];
  readonly withdrawn: string[];
  readonly terminal: Tool;
  readonly process: Tool;
  /** Done before everything else is undone. */
  cleanup(step: () => Promise<void>): void;
  /** What a call answers, read back. */
  run(args: Readonly<Record<string, unknown>>, context?: ToolContext, signal?: AbortSignal): Promise<Answered>;
  ask(args: Readonly<Record<string, unknown>>, context?: ToolContext, signal?: AbortSignal): Promise<Answered>;
}

export interface Answered {
  readonly output: string;
  readonly exit_code: number;
  readonly session_id: string;
  readonly [name: string]: unknown;
}

export const approvalSettings = (facts: Partial<ApprovalSettings['approvals']> & { readonly allowlist?: readonly string[] } = {}): ApprovalSettings => {
  const { allowlist, ...approvals } = facts;
  return { approvals: approvalsSection.schema.parse(approvals), command_allowlist: allowlistSection.schema.parse(allowlist ?? []) };
};

/** The tools on real processes, a real database and a real guard. */
export const newBench = async (test: Test, facts: { readonly settings?: ApprovalSettings; readonly clock?: Clock; readonly env?: Readonly<Record<string, string>>; readonly processes?: Partial<ProcessesDeps> } = {}): Promise<Bench> => {
  const cleanup = newCleanup(test);
  const folder = await temporaryFolder({ after: cleanup });
  const clock = facts.clock ?? systemClock;
  const store = await openStore({ path: join(folder, 'gateway.db'), clock, log: silentLogger, checkIntegrity: false });
  cleanup(() => store.close());
  const notices: ProcessNotice[] = [];
  const withdrawn: string[] = [];
  const redactor = newRedactor();
  redactor.remember('gateway-secret-1');
  const redact = (text: string): string => redactor.redact(text);
  const processes = new Processes({
    store,
    clock,
    log: silentLogger,
    folder: join(folder, 'processes'),
    owner: 'here',
    redact,
    notify: async (notice) => void notices.push(notice),
    withdraw: async (key) => void withdrawn.push(key),
    ...facts.processes,
  });
  await processes.start();
  cleanup(async () => {
    await processes.killOf('s1');
    await processes.stop();
  });
  const settings = (): ApprovalSettings => facts.settings ?? approvalSettings();
  const approve = newApprover({ store, log: silentLogger, settings, attended: () => true, keepAlways: async () => undefined });
  const guard = newCommandGuard({ approve, settings, facts: { home: folder, parentPid: process.pid, gateway: { home: join(folder, '.hermes'), pid: process.pid, commandLine: process.argv.join(' ') } }, isOwner: () => true });
  const backend = await openBackend({ settings: terminalSection.schema.parse({}), workspace: folder, userHome: folder, path: programPath });
  const environment = (): Readonly<Record<string, string>> => scrubbedEnvironment({ PATH: programPath, HOME: folder, LANG: 'C', ...facts.env }, { passthrough: ['PASSED'], withheld: new Set(['OPENAI_API_KEY']) });
  const tools = toolSet(terminalTools({ backend, guard, processes, folders: newSessionFolders(), startFolder: () => folder, environment, redact, userHome: folder, timeoutSeconds: 60 }));
  const call = (name: string) => async (args: Readonly<Record<string, unknown>>, context: ToolContext = fakeContext({ clock }), signal: AbortSignal = new AbortController().signal): Promise<Answered> =>
    JSON.parse((await tools.get(name)?.run(args, context, signal)) ?? '{}') as Answered;
  const [terminal, process_] = ['terminal', 'process'].map((name) => tools.get(name));
  if (terminal === undefined || process_ === undefined) throw new Error('a tool is missing');
  return { folder, store, processes, backend, notices, withdrawn, terminal, process: process_, cleanup, run: call('terminal'), ask: call('process') };
};

/** A command that runs until `go`. */
export const patient = 'while [ ! -e go ]; do sleep 0.01; done; ';
export const go = (bench: Bench): Promise<void> => writeFile(join(bench.folder, 'go'), '');
