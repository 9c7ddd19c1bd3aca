import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { systemClock } from '../../../lib/clock.ts';
import { somewhere } from '../../turn.test-support.ts';
import type { ApprovalRequest, ApprovalVerdict } from '../../approvals/contract.ts';
import type { ToolContext } from '../contract.ts';
import { newFileState } from './file-access.ts';
import type { FileToolsDeps } from './file-access.ts';
import { fileTools } from './file-tools.ts';

export interface Desk extends AsyncDisposable {
  /** Outside of everything that is allowed. */
  readonly root: string;
  readonly home: string;
  readonly user: string;
  readonly work: string;
  readonly asked: ApprovalRequest[];
  /** What the next questions are answered with; no when there is none. */
  readonly answers: ApprovalVerdict[];
  readonly deps: FileToolsDeps;
  context(overrides?: Partial<ToolContext>): ToolContext;
  run(tool: string, args: Record<string, unknown>, options?: { readonly context?: ToolContext; readonly signal?: AbortSignal }): Promise<string>;
  /** Writes a file below the working folder, or at an absolute path. */
  put(path: string, text: string | Uint8Array): Promise<string>;
}

/** A user's folder with a gateway's home and a working folder in it, for tools that really work on files. */
export const newDesk = async (overrides: Partial<FileToolsDeps> = {}): Promise<Desk> => {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'hermes-files-')));
  const user = join(root, 'user');
  const home = join(user, '.hermes');
  const work = join(user, 'work');
  await mkdir(home, { recursive: true });
  await mkdir(work);
  const asked: ApprovalRequest[] = [];
  const answers: ApprovalVerdict[] = [];
  const deps: FileToolsDeps = {
    home,
    agentHome: home,
    userHome: user,
    workdir: () => work,
    roots: [work],
    readRoots: [],
    redact: (text) => text.replaceAll('hunter22', '***'),
    state: newFileState(),
    async approve(request) {
      asked.push(request);
      return answers.shift() ?? { allowed: false, reason: 'nobody said yes' };
    },
    ...overrides,
  };
  const context = (more: Partial<ToolContext> = {}): ToolContext => ({
    sessionId: 's1',
    turnId: 't1',
    callId: 'c1',
    place: somewhere,
    clock: systemClock,
    asyncDelivery: true,
    alive: () => undefined,
    ask: async () => ({ type: 'unattended' }),
    ...more,
  });
  const tools = new Map(fileTools(deps).map((tool) => [tool.definition.name, tool]));
  return {
    root, home, user, work, asked, answers, deps, context,
    run: (name, args, options = {}) => tools.get(name)!.run(args, options.context ?? context(), options.signal ?? new AbortController().signal),
    async put(path, text) {
      const target = path.startsWith('/') ? path : join(work, path);
      await mkdir(dirname(target), { recursive: true });
      await writeFile(target, text);
      return target;
    },
    [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true }),
  };
};
