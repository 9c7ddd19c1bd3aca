import type { ToolContext } from '../tools/contract.ts';
import type { ApprovalVerdict, Approver } from './contract.ts';
import { deniedBy } from './deny-globs.ts';
import type { Finding } from './judge-command.ts';
import type { ApprovalSettings } from './options.ts';
import type { CommandFacts, Reach } from './rule.ts';
import type { Dialect } from './shell/call.ts';

export interface GuardedCommand {
  readonly command: string;
  readonly cwd: string;
  readonly dialect: Dialect;
  readonly background: boolean;
  /** It runs where it can reach nothing of the machine. */
  readonly isolated: boolean;
}

export interface CommandGuardDeps {
  readonly approve: Approver;
  settings(): Pick<ApprovalSettings, 'approvals'>;
  readonly facts: Omit<CommandFacts, 'cwd' | 'others'>;
  /** What belongs to other agents, as it stands for a conversation. */
  others?(sessionId: string): CommandFacts['others'];
  isOwner(person: { readonly account: string; readonly userId: string }): boolean;
}

/** `how` is left out for what needs no approval. */
export type GuardVerdict = { readonly allowed: true; readonly how?: Extract<ApprovalVerdict, { allowed: true }>['how'] } | { readonly allowed: false; readonly reason: string };

/** Decides about every command before it runs: first what nobody can lift, then the owner's own list, then what a person may allow. */
export type CommandGuard = (command: GuardedCommand, context: ToolContext, signal: AbortSignal) => Promise<GuardVerdict>;

const narrowest = (findings: readonly Finding[]): Reach => (['once', 'session'] as const).find((reach) => findings.some((finding) => finding.widest === reach)) ?? 'always';

/** What is shown and approved: the command, where it runs, and how. */
const subjectOf = ({ command, cwd, background }: GuardedCommand): string => `# in ${cwd}${background ? ', in the background' : ''}\n${command}`;

const isForOwner = (deps: CommandGuardDeps, { place: { sender, target } }: ToolContext): boolean => sender !== undefined && deps.isOwner({ account: target.account, userId: sender.id });

export const newCommandGuard =
  (deps: CommandGuardDeps): CommandGuard =>
  async (asked, context, signal) => {
    // With the first command, not before: what reads shell scripts is large, and many agents never run one.
    const { judgeCommand } = await import('./judge-command.ts');
    const judgement = judgeCommand(asked.command, { ...deps.facts, cwd: asked.cwd, others: deps.others?.(context.sessionId) }, asked.dialect);
    if (judgement.type === 'refused') return { allowed: false, reason: `This ${judgement.reason}. It is never run here, whatever the settings are. Do not try it in another way.` };
    const glob = deniedBy(deps.settings().approvals.deny, asked.command, judgement.reading.calls);
    if (glob !== undefined) return { allowed: false, reason: `The owner forbids this (approvals.deny: ${JSON.stringify(glob)}). Do not try it in another way.` };
    if (judgement.type === 'harmless' || asked.isolated) return { allowed: true };
    const reserved = judgement.findings.find(({ ownerOnly }) => ownerOnly === true);
    if (reserved !== undefined && !isForOwner(deps, context)) return { allowed: false, reason: `This ${reserved.reason}. Only the owner of the gateway can have that done.` };
    const [first, ...more] = judgement.findings;
    return deps.approve(
      {
        tool: 'terminal',
        subject: subjectOf(asked),
        reasons: judgement.findings.map((finding) => finding.reason),
        pattern: first.pattern,
        ...(more.length > 0 && { morePatterns: more.map((finding) => finding.pattern) }),
        widest: narrowest(judgement.findings),
      },
      context,
      signal,
    );
  };
