import { rowTokens } from '../agent/context.ts';
import { compressionFailure, countCompressions, currentCompression } from '../store/sessions/compressions.ts';
import type { Compression, CompressionFailure } from '../store/sessions/compressions.ts';
import { contextByRole } from '../store/sessions/context-size.ts';
import type { ContextSize } from '../store/sessions/context-size.ts';
import { findSession } from '../store/sessions/sessions.ts';
import type { ContextFacts } from '../store/sessions/sessions.ts';
import type { Command } from './contract.ts';

const count = (tokens: number): string => (tokens < 10_000 ? String(tokens) : `${Math.round(tokens / 1000)}k`);

const tokensOf = ({ messages, sizeBytes }: ContextSize): number => messages * rowTokens(0) + Math.ceil(sizeBytes / 4);

const ago = (ms: number): string => {
  const minutes = Math.round(ms / 60_000);
  if (minutes < 1) return 'just now';
  if (minutes < 60) return `${minutes} min ago`;
  return minutes < 2 * 24 * 60 ? `${Math.round(minutes / 60)} h ago` : `${Math.round(minutes / 60 / 24)} days ago`;
};

const windowLines = (facts: ContextFacts | undefined, usedTokens: number): readonly string[] => {
  if (facts === undefined) return [`**Used** about ${count(usedTokens)} tokens`];
  const percent = Math.round((usedTokens / facts.window) * 100);
  return [
    `**Window** ${count(facts.window)} tokens`,
    `**Used** about ${count(usedTokens)} tokens (${percent}%)`,
    `**Summarised from** ${count(facts.threshold)} tokens on (${Math.round((facts.threshold / facts.window) * 100)}%)`,
  ];
};

const compressionLines = (last: Compression | undefined, facts: { times: number; nowMs: number }): readonly string[] => {
  if (last === undefined) return ['**Summarised** not yet'];
  const how = last.how === 'static' ? ', as a plain list because no model could be asked' : '';
  return [`**Summarised** ${facts.times === 1 ? 'once' : `${facts.times} times`}, last ${ago(facts.nowMs - last.createdAtMs)}: from about ${count(last.tokensBefore)} to ${count(last.tokensAfter)} tokens${how}`];
};

const failureLines = (failure: CompressionFailure | undefined): readonly string[] => {
  if (failure === undefined) return [];
  const again = failure.waitMs > 0 ? ` Tried again in ${Math.ceil(failure.waitMs / 60_000)} min.` : '';
  return [`⚠️ The last try to summarise did not work: ${failure.error}${again}`];
};

export const context: Command = {
  name: 'context',
  aliases: [],
  category: 'Info',
  description: 'Show how much of the model’s window this conversation takes',
  whileRunning: 'allowed',
  async run(tx, call) {
    const session = await findSession(tx, call.sessionId);
    const sizes = await contextByRole(tx, call.sessionId);
    const compression = await currentCompression(tx, call.sessionId);
    const parts = [
      { name: 'system prompt', tokens: session?.contextFacts?.system ?? 0 },
      { name: 'tools', tokens: session?.contextFacts?.tools ?? 0 },
      { name: 'summary', tokens: compression === undefined ? 0 : rowTokens(Buffer.byteLength(compression.summary)) },
      { name: 'what people said', tokens: tokensOf(sizes.user) },
      { name: 'what I said', tokens: tokensOf(sizes.assistant) },
      { name: 'results of tools', tokens: tokensOf(sizes.tool) },
    ].filter((part) => part.tokens > 0);
    const estimated = parts.reduce((sum, part) => sum + part.tokens, 0);
    const messages = sizes.user.messages + sizes.assistant.messages + sizes.tool.messages;
    return [
      ...windowLines(session?.contextFacts, session?.prompt?.tokens ?? estimated),
      `**Messages** ${messages} word for word, of ${session?.messageCount ?? 0}`,
      ...parts.map((part) => `- ${part.name}: about ${count(part.tokens)} tokens`),
      ...compressionLines(compression, { times: await countCompressions(tx, call.sessionId), nowMs: call.nowMs }),
      ...failureLines(await compressionFailure(tx, call.sessionId)),
    ].join('\n');
  },
};
