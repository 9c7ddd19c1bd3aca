import { ModelError } from '../../core/errors.ts';
import type { Logger } from '../../lib/logger.ts';
import { everything, grantPatterns, grantsOf } from '../../store/agents/grants.ts';
import type { Store } from '../../store/store.ts';
import type { CompleteText } from '../models/complete-text.ts';
import type { ToolContext } from '../tools/contract.ts';
import { approvalQuestion, patternsOf, readDecision } from './approval-question.ts';
import type { ApprovalRequest, ApprovalVerdict, Approver } from './contract.ts';
import type { ApprovalSettings } from './options.ts';
import { smartVerdict } from './smart-judge.ts';
import type { SmartVerdict } from './smart-judge.ts';

export interface ApproverDeps {
  readonly store: Store;
  readonly log: Logger;
  /** Read anew for each request, so that a change takes effect at once. */
  settings(): ApprovalSettings;
  /** Whether somebody is there who can be asked. */
  attended(context: ToolContext): boolean;
  /** Adds to `command_allowlist` in config.yaml; answers what was wrong. */
  keepAlways(patterns: readonly string[]): Promise<string | undefined>;
  /** The model that decides in mode `smart`; without one a person does. */
  readonly complete?: CompleteText;
}

const denied = (reason: string): ApprovalVerdict => ({ allowed: false, reason });

/** After so many refusals by the model in a row, the agent is told to stop trying. */
const patience = 3;
const rememberedSessions = 1000;

/** How often the model has refused in a row, for each conversation. */
const newRefusals = (): { count(sessionId: string): number; reset(sessionId: string): void } => {
  const counts = new Map<string, number>();
  return {
    count(sessionId) {
      const next = (counts.get(sessionId) ?? 0) + 1;
      counts.delete(sessionId);
      counts.set(sessionId, next);
      const oldest = counts.size > rememberedSessions ? counts.keys().next().value : undefined;
      if (oldest !== undefined) counts.delete(oldest);
      return next;
    },
    reset: (sessionId) => void counts.delete(sessionId),
  };
};

/** Allowed before: by a setting, for good, or for this conversation. */
const allowedBefore = async (deps: ApproverDeps, request: ApprovalRequest, context: ToolContext): Promise<ApprovalVerdict | undefined> => {
  const { approvals, command_allowlist } = deps.settings();
  if (approvals.mode === 'off') return { allowed: true, how: 'mode' };
  const granted = new Set((await deps.store.read((db) => grantsOf(db, context.sessionId))).map((grant) => grant.pattern));
  if (granted.has(everything)) return { allowed: true, how: 'mode' };
  const patterns = patternsOf(request);
  if (patterns.every((pattern) => command_allowlist.includes(pattern))) return { allowed: true, how: 'always' };
  return patterns.every((pattern) => command_allowlist.includes(pattern) || granted.has(pattern)) ? { allowed: true, how: 'session' } : undefined;
};

const isScheduled = ({ sessionId, place }: ToolContext): boolean => sessionId.startsWith('cron_') || place.platform === 'cron';

const unattended = (deps: ApproverDeps, context: ToolContext): ApprovalVerdict => {
  const { cron_mode, unattended_mode } = deps.settings().approvals;
  const setting = isScheduled(context) ? 'cron_mode' : 'unattended_mode';
  if ((isScheduled(context) ? cron_mode : unattended_mode) === 'approve') return { allowed: true, how: 'mode' };
  return denied(`It needs the approval of a person, and nobody can be asked here (approvals.${setting} is \`deny\`). Go on without it, or say what you could not do.`);
};

const askModel = async (deps: ApproverDeps, request: ApprovalRequest, signal: AbortSignal): Promise<SmartVerdict> => {
  if (deps.settings().approvals.mode !== 'smart' || deps.complete === undefined || request.widest === 'once') return 'ask';
  try {
    return await smartVerdict(request, deps.complete, signal);
  } catch (error) {
    if (signal.aborted || !(error instanceof ModelError)) throw error;
    deps.log.warn({ err: error, tool: request.tool }, 'approval.model_failed');
    return 'ask';
  }
};

const askPerson = async (deps: ApproverDeps, request: ApprovalRequest, at: { context: ToolContext; signal: AbortSignal }): Promise<ApprovalVerdict> => {
  const { context, signal } = at;
  const answer = await context.ask(approvalQuestion(request, deps.settings().approvals.timeout * 1000), signal);
  const decision = readDecision(answer, request);
  if (decision.type === 'denied') return denied(`${decision.reason}.`);
  if (decision.reach === 'once') return { allowed: true, how: 'once' };
  const patterns = patternsOf(request);
  // Also for what is kept for good: the settings are read again only in a moment.
  await deps.store.write((tx) => grantPatterns(tx, context.sessionId, patterns.map((pattern) => ({ pattern, grantedBy: decision.by }))));
  if (decision.reach === 'session') return { allowed: true, how: 'session' };
  const problem = await deps.keepAlways(patterns);
  if (problem === undefined) return { allowed: true, how: 'always' };
  deps.log.warn({ patterns, problem }, 'approval.not_kept');
  return { allowed: true, how: 'session' };
};

/**
 * Decides by settings, by what was allowed before, by a model that may only settle what is clear, or by asking a person. What a person allows
 * once holds for exactly the subject they were shown.
 */
export const newApprover = (deps: ApproverDeps): Approver => {
  const refusals = newRefusals();

  const decide = async (request: ApprovalRequest, context: ToolContext, signal: AbortSignal): Promise<ApprovalVerdict> => {
    const before = await allowedBefore(deps, request, context);
    if (before !== undefined) return before;
    if (!deps.attended(context)) return unattended(deps, context);
    const verdict = await askModel(deps, request, signal);
    if (verdict === 'allow') return { allowed: true, how: 'mode' };
    if (verdict === 'ask') return askPerson(deps, request, { context, signal });
    const stop = refusals.count(context.sessionId) >= patience ? ' It was refused several times in a row: stop trying, and tell the person what you need.' : '';
    return denied(`It was judged too dangerous: it ${request.reasons.join('; ')}. Find a safer way.${stop}`);
  };

  return async (request, context, signal) => {
    const verdict = await decide(request, context, signal);
    if (verdict.allowed) refusals.reset(context.sessionId);
    deps.log.info({ tool: request.tool, patterns: patternsOf(request), session: context.sessionId, allowed: verdict.allowed, how: verdict.allowed ? verdict.how : 'denied' }, 'approval.decided');
    return verdict;
  };
};
