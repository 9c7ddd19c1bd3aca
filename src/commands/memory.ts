import { parseProposal } from '../agent/memory/proposal.ts';
import type { MemoryStatus } from '../agent/memory/agent-memory.ts';
import type { MemorySession } from '../agent/memory/provider.ts';
import { platformOf } from '../core/ids.ts';
import { listMemoryProposals, removeMemoryProposal } from '../store/agents/memory-proposals.ts';
import type { MemoryProposal } from '../store/agents/memory-proposals.ts';
import { findSession } from '../store/sessions/sessions.ts';
import type { Session } from '../store/sessions/sessions.ts';
import type { AfterCommit, Command, CommandCall } from './contract.ts';
import { mine } from './own-sessions.ts';
import type { MemoryReach } from './reach.ts';

const usage = 'Usage: /memory, /memory pending, /memory approve <number|all>, /memory reject <number|all>';
const titles = { memory: 'My notes', user: 'What I know about you' } as const;

const providerLine = ({ provider, state, waiting }: MemoryStatus): string => {
  if (provider === undefined) return '';
  const how = state.state === 'failing' ? `⚠️ failing: ${state.error ?? 'see the log'}` : state.state;
  return `**${provider}** ${how}${waiting > 0 ? `, ${waiting} things still to be told` : ''}`;
};

const show = async (call: CommandCall, memory: MemoryReach, session: Session | undefined): Promise<string> => {
  const owner = { account: call.event.account, ...(session?.userId != null && { userId: session.userId }) };
  const blocks: string[] = [];
  for (const target of ['memory', 'user'] as const) {
    const now = await memory.entries(target, owner);
    if (now === undefined) continue;
    const text = now.problem === undefined ? now.entries.map((entry) => `- ${call.reach.redact(entry)}`).join('\n') || '(nothing yet)' : `⚠️ The file cannot be used: ${now.problem}.`;
    blocks.push(`**${titles[target]}** (${now.usage})\n${text}`);
  }
  const provider = providerLine(await memory.status());
  return [...(blocks.length === 0 ? ['I keep no memories here.'] : blocks), ...(provider === '' ? [] : [provider])].join('\n\n');
};

/** Others' proposals are for whoever decides about others. */
const proposalsFor = (call: CommandCall, { store }: AfterCommit): Promise<readonly MemoryProposal[]> =>
  store.read((db) => listMemoryProposals(db, call.agent, call.access.mayAdminister ? undefined : { ...mine(call), sessionId: call.sessionId }));

const describe = (call: CommandCall, proposal: MemoryProposal): string => {
  const wanted = parseProposal(proposal);
  if (wanted === undefined) return `**${proposal.id}** cannot be read any more`;
  const { target, change } = wanted;
  const what = change.action === 'add' ? `add “${change.content}”` : change.action === 'remove' ? `remove “${change.oldText}”` : `replace “${change.oldText}” with “${change.content}”`;
  return `**${proposal.id}** ${target}: ${call.reach.redact(what)}`;
};

const pending = async (call: CommandCall, after: AfterCommit): Promise<string> => {
  const proposals = await proposalsFor(call, after);
  if (proposals.length === 0) return 'No memory is waiting for a yes.';
  return [...proposals.map((proposal) => describe(call, proposal)), 'Decide with /memory approve <number|all> or /memory reject <number|all>.'].join('\n');
};

const sessionOf = (proposal: MemoryProposal, row: Session | undefined): MemorySession => ({
  sessionId: proposal.sessionId,
  agent: proposal.agent,
  platform: platformOf(proposal.account),
  account: proposal.account,
  ...(proposal.userId !== null && { userId: proposal.userId }),
  isPrivate: proposal.userId !== null && row?.chatType === 'dm',
});

/** The file first, the list after it: whoever is interrupted in between is asked again and finds it done. */
const approve = async (memory: MemoryReach, proposal: MemoryProposal, { store, signal }: AfterCommit): Promise<string> => {
  const wanted = parseProposal(proposal);
  const row = await store.read((db) => findSession(db, proposal.sessionId));
  const changed = wanted === undefined ? undefined : await memory.change(wanted, sessionOf(proposal, row), signal);
  if (changed !== undefined && changed.type !== 'done' && changed.type !== 'duplicate') return `⚠️ ${proposal.id} was not kept: it no longer fits what is there. Reject it, or make room first.`;
  await store.write((tx) => removeMemoryProposal(tx, proposal.id));
  return changed === undefined ? `⚠️ ${proposal.id} cannot be read any more.` : `✅ ${proposal.id} kept.`;
};

const decide = async (call: CommandCall, memory: MemoryReach, after: AfterCommit): Promise<string> => {
  const [verb = '', which = ''] = call.args.toLowerCase().split(/\s+/);
  const proposals = (await proposalsFor(call, after)).filter(({ id }) => which === 'all' || String(id) === which);
  if (proposals.length === 0) return which === 'all' ? 'No memory is waiting for a yes.' : `No memory with the number ${which.slice(0, 20)} is waiting for you.`;
  const lines: string[] = [];
  for (const proposal of proposals) {
    if (verb === 'approve') lines.push(await approve(memory, proposal, after));
    else lines.push((await after.store.write((tx) => removeMemoryProposal(tx, proposal.id))) ? `🗑️ ${proposal.id} dropped.` : `${proposal.id} was decided already.`);
  }
  return lines.join('\n');
};

export const memory: Command = {
  name: 'memory',
  aliases: [],
  category: 'Tools',
  description: 'Show what I remember, and decide about what I want to remember',
  args: '[pending|approve|reject] [number|all]',
  whileRunning: 'allowed',
  async run(tx, call) {
    const kept = call.reach.memory?.(call.agent);
    if (kept === undefined) return 'I keep no memories here. The owner can switch them on with `memory.memory_enabled: true`.';
    const [verb = '', which = '', ...others] = call.args.toLowerCase().split(/\s+/);
    const session = await findSession(tx, call.sessionId);
    if (verb === '') call.after(() => show(call, kept, session));
    else if (verb === 'pending' && which === '') call.after((after) => pending(call, after));
    else if ((verb === 'approve' || verb === 'reject') && /^(?:all|\d{1,15})$/.test(which) && others.length === 0) call.after((after) => decide(call, kept, after));
    else return usage;
    return '';
  },
};
