import type { Usage } from '../../core/transcript.ts';
import { printCost } from '../../lib/print-usd.ts';
import { printable } from '../../lib/printable.ts';
import { cutToWidth, textWidth } from '../../lib/text-width.ts';
import { span } from './style.ts';
import type { Line, Style } from './style.ts';

export interface StatusFacts {
  readonly model: string;
  readonly contextTokens: number;
  readonly contextLength: number;
  readonly usage: Pick<Usage, 'inputTokens' | 'outputTokens' | 'cost'>;
  readonly session: { readonly id: string; readonly title: string | null } | undefined;
  /** How long the agent has been at work; undefined when it is idle. */
  readonly workingMs: number | undefined;
  readonly waiting: number;
  /** Why nothing can be sent right now. */
  readonly away: string | undefined;
  /** Messages that wait for the gateway. */
  readonly unsent: number;
}

/** `950`, `1.2k`, `34k`, `1.1M`. */
export const count = (value: number): string => {
  if (value < 1000) return String(value);
  if (value < 10_000) return `${(value / 1000).toFixed(1)}k`;
  return value < 1_000_000 ? `${Math.round(value / 1000)}k` : `${(value / 1_000_000).toFixed(1)}M`;
};

const stateOf = (facts: StatusFacts): { readonly text: string; readonly style: Style } => {
  const unsent = facts.unsent === 0 ? '' : `, ${facts.unsent} to send`;
  if (facts.away !== undefined) return { text: `${facts.away}${unsent}`, style: { color: 'red' } };
  const waiting = facts.waiting === 0 ? '' : `, ${facts.waiting} waiting`;
  if (facts.workingMs !== undefined) return { text: `working ${Math.floor(facts.workingMs / 1000)} s${waiting}`, style: { color: 'yellow' } };
  return { text: 'idle', style: { dim: true } };
};

const shortId = (id: string): string => id.slice(-8);

const nameOf = (session: StatusFacts['session']): string => {
  if (session === undefined) return 'new';
  return session.title === null ? shortId(session.id) : `“${cutToWidth(printable(session.title), 30)}”`;
};

/** The state first and whole, then as much of the rest as there is room for, the most useful first. */
export const statusLine = (facts: StatusFacts, columns: number): Line => {
  const state = stateOf(facts);
  const { inputTokens, outputTokens, cost } = facts.usage;
  const percent = Math.round((facts.contextTokens / facts.contextLength) * 100);
  const details = [printable(facts.model), nameOf(facts.session), `~${percent}% of ${count(facts.contextLength)}`, `↑${count(inputTokens)} ↓${count(outputTokens)}`, ...(cost === undefined ? [] : [printCost(cost)])];
  const faint: Style = { dim: true };
  const text = cutToWidth(state.text, columns - 4);
  let room = columns - textWidth(text) - 4;
  const spans = [span('─ ', faint), span(text, state.style)];
  for (const detail of details) {
    const width = textWidth(detail) + 3;
    if (width > room) continue;
    spans.push(span(` · ${detail}`, faint));
    room -= width;
  }
  return [...spans, span(` ${'─'.repeat(Math.max(0, room + 1))}`, faint)];
};
