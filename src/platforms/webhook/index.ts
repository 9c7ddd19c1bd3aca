import { newChains } from '../../lib/chains.ts';
import { systemClock } from '../../lib/clock.ts';
import type { Adapter, AdapterContext, Platform } from '../contract.ts';
import { maxAnswerLength, openAnswers } from './answers.ts';
import { openCoalescedCalls } from './coalesced-calls.ts';
import { openGithubComments } from './github-comments.ts';
import { readIssue } from './github-issue.ts';
import { newCallMemory } from './memory.ts';
import { webhookOptions } from './options.ts';
import type { WebhookOptions } from './options.ts';
import { newRateLimit } from './rate.ts';
import { webhookRoutes } from './routes.ts';
import type { Receiving } from './routes.ts';

const aliveEveryMs = 15_000;
const dayMs = 86_400_000;
/** How long an issue may be commented on after a call spoke of it, and answers to calls that belong together are found by each of them. */
const keptDays = 30;

const open = async ({ account, options, log, data }: AdapterContext<WebhookOptions>): Promise<Adapter> => {
  const clock = systemClock;
  const answers = openAnswers(data);
  const memory = newCallMemory(data);
  const comments = openGithubComments(options.github, data, () => clock.now());
  const coalesced = openCoalescedCalls(data);
  let receiving: Receiving | undefined;
  let forgottenMs = 0;
  const forget = async (): Promise<void> => {
    if (clock.now() - forgottenMs < dayMs) return;
    forgottenMs = clock.now();
    await memory.forget(forgottenMs - options.replay_days * dayMs);
    await comments.forget(forgottenMs - keptDays * dayMs);
    await coalesced.forget(forgottenMs - keptDays * dayMs);
  };
  return {
    identify: async () => ({ id: account, name: 'Webhooks' }),
    async run(inbox, _identity, signal) {
      receiving = { inbox, signal };
      try {
        for (;;) {
          await forget();
          inbox.alive();
          await clock.sleep(aliveEveryMs, signal);
        }
      } catch (error) {
        if (!signal.aborted) throw error;
      } finally {
        receiving = undefined;
      }
    },
    send(message, signal) {
      const issue = readIssue(message.target.chatId);
      return issue === undefined ? answers.keep(message, signal) : comments.post(message, issue, signal);
    },
    repeatsAreSafe: true,
    webhook: { guard: 'own', routes: webhookRoutes({ account, options, answers, memory, comments, coalesced, order: newChains(), mayCall: newRateLimit(), clock, log, receiving: () => receiving }) },
  };
};

const noNetwork = 'An answer waits in the gateway until its caller comes for it: there is no network that could fail.';

/** Programs that call us. What they send is data of others; the route says what is asked about it, and where the answer goes. */
export const webhook: Platform<WebhookOptions> = {
  name: 'webhook',
  label: 'Webhooks',
  options: webhookOptions,
  limits: { text: maxAnswerLength, measure: (markdown) => markdown.length, editIntervalMs: 1000 },
  readChat: (ref) => (readIssue(ref) === undefined ? undefined : { chatId: ref }),
  display: { tier: 'minimal' },
  hints: 'A program has called. Nobody is here to be asked, and nothing can be said after your answer.',
  asyncDelivery: false,
  authenticatesSenders: true,
  surface: 'machine',
  alwaysOn: false,
  credential: () => undefined,
  open,
  simulate: async () => (await import('./simulator.ts')).openWebhookSimulator(),
  exceptions: {
    'a refused credential is called one': 'Webhooks have no credential of their own: each route has a secret, with which others sign.',
    'a lost connection ends receiving with an error, and the next one goes on': 'Others call us; there is no connection to lose.',
    'garbage from the platform does not pass for success': noNetwork,
    'a send that hangs ends with its caller': noNetwork,
    'a rate limit carries its delay, and nothing is tried again': noNetwork,
    'a platform that cannot be reached is unavailable': noNetwork,
    'a connection that breaks during a send is no success, and the next send works': noNetwork,
    'a lost answer is an unknown outcome': noNetwork,
    'no secret gets into a log or an error': noNetwork,
    'its own messages do not come back': 'Only programs call, and we are none of them.',
    'a person may answer one of our messages': 'Calls are no replies.',
  },
};
