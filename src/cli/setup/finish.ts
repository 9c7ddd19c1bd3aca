import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { invite, pairingRules } from '../../access/pairing.ts';
import { soundsSecret } from '../../config/variables.ts';
import { systemClock } from '../../lib/clock.ts';
import { listPaired } from '../../store/accounts/pairing.ts';
import type { Terminal } from '../environment.ts';
import { lookIntoStore, withStore } from '../home/open-home.ts';
import { isHomeTaken } from '../../store/locks/home-lock.ts';
import type { WrittenFiles } from './draft.ts';
import { nameOf } from './account-check.ts';
import { guardedAccounts, hasPeople } from './people.ts';
import type { SetupRun } from './run.ts';

export interface FirstMessage {
  /** Whom to write to. */
  readonly to: string;
  readonly text: string;
}

export interface SetupResult extends WrittenFiles {
  readonly home: string;
  readonly model: string;
  readonly account: string | null;
  /** The code that lets the owner in, once. */
  readonly code: string | null;
  readonly codeMinutes: number;
  /** Somebody is let in already, by a list or by a code. */
  readonly hasPeople: boolean;
  readonly isRunning: boolean;
  /** Variables with credentials that only this process has: the gateway has to be started with them, too. */
  readonly unsavedVariables: readonly string[];
  readonly firstMessage: FirstMessage;
}

const greeting = 'Hello! What can you do?';

const makeCode = (terminal: Terminal, account: string): Promise<string> => withStore(terminal, (store) => store.write((tx) => invite(tx, { account, userId: 'setup', userName: null })));

const isAnybodyPaired = async (terminal: Terminal, account: string): Promise<boolean> => (await lookIntoStore(terminal, (store) => store.read(listPaired))).some((person) => person.account === account);

const modelOf = (run: SetupRun): string => {
  const loaded = run.draft.load();
  if (!loaded.ok) return 'unknown';
  const { provider, default: name } = loaded.sections.model;
  return name === undefined ? provider : `${name} (${provider})`;
};

/** Credentials that the configuration takes from the environment of this process, and that no file holds. */
const unsavedVariables = (run: SetupRun): readonly string[] => {
  const loaded = run.draft.load();
  if (!loaded.ok) return [];
  const { provider } = loaded.sections.model;
  const isUsed = (path: string): boolean => path.startsWith('platforms.') || path === `model.endpoints.${provider}.api_key`;
  const sources = loaded.settings.flatMap(({ path, source }) => (isUsed(path.join('.')) ? [/^env (\w+)$/.exec(source)?.[1] ?? ''] : []));
  return [...new Set([...sources, ...run.draft.references()])].filter((name) => soundsSecret(name) && run.draft.inEnvironment(name) !== undefined && !run.draft.keeps(name));
};

/** Writes the files, makes the code, and says what to send to whom. From here on Ctrl-C is too late. */
export const finish = async (terminal: Terminal, run: SetupRun): Promise<SetupResult> => {
  const { draft } = run;
  const written = await draft.write(new Date(systemClock.now()));
  const guarded = guardedAccounts(run).find(({ account: name }) => name === run.account?.name);
  const account = guarded?.account;
  const code = run.invite && account !== undefined ? await makeCode(terminal, account) : null;
  const { identity, label } = run.account ?? {};
  const to = account === undefined ? 'the agent, with: hermes' : `${identity === undefined ? `your bot` : nameOf(identity)} on ${label ?? account}`;
  return {
    ...written,
    home: draft.home,
    model: modelOf(run),
    account: account ?? null,
    code,
    hasPeople: guarded !== undefined && (hasPeople(run, guarded) || (await isAnybodyPaired(terminal, guarded.account))),
    codeMinutes: pairingRules.lifeMs / 60_000,
    isRunning: isHomeTaken(draft.home) && existsSync(join(draft.home, 'gateway.pid')),
    unsavedVariables: unsavedVariables(run),
    firstMessage: { to, text: code ?? greeting },
  };
};

export interface NextStep {
  readonly what: string;
  /** To be copied as it is. */
  readonly text?: string;
}

/** What a person does next, in order. */
export const nextSteps = (result: SetupResult): readonly NextStep[] => {
  const { unsavedVariables: unsaved, firstMessage } = result;
  const started = unsaved.length === 0 ? 'Start it:' : `Start it, with ${unsaved.join(' and ')} in its environment (--save-env keeps ${unsaved.length === 1 ? 'it' : 'them'} in .env):`;
  const start: NextStep = result.isRunning ? { what: 'The running gateway takes the changes over.' } : { what: started, text: 'hermes gateway run' };
  if (result.account === null) return [start, { what: 'Say hello, here or on the page:', text: `hermes -q ${JSON.stringify(greeting)}` }];
  if (result.code !== null) return [start, { what: `Send to ${firstMessage.to}, within ${result.codeMinutes} minutes:`, text: result.code }, { what: 'That lets you in. Then send:', text: greeting }];
  if (result.hasPeople) return [start, { what: `Send to ${firstMessage.to}:`, text: greeting }];
  return [start, { what: `Write to ${firstMessage.to}. It answers with a code, and you let yourself in:`, text: `hermes pairing approve ${result.account} CODE` }];
};

export const stepLines = (steps: readonly NextStep[]): readonly string[] => steps.flatMap(({ what, text }, index) => [`${index + 1}. ${what}`, ...(text === undefined ? [] : [`     ${text}`])]);
