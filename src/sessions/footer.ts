import { sep } from 'node:path';
import { printUsd } from '../lib/print-usd.ts';

export const footerFields = ['model', 'context_pct', 'cwd', 'tokens', 'cost', 'duration'] as const;

export type FooterField = (typeof footerFields)[number];

/** What is known about an answer once it is finished. */
export interface FooterFacts {
  readonly model?: string;
  /** Tokens that the last model call has read, and how many the model can read. */
  readonly contextTokens?: number;
  readonly contextLimit?: number;
  readonly folder?: string;
  /** The person's own folder, written as `~`. */
  readonly userFolder?: string;
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly costUsd?: number;
  readonly durationMs?: number;
}

const short = (count: number): string => (count < 10_000 ? String(count) : `${Math.round(count / 1000)}k`);

const shortFolder = (folder: string, userFolder: string | undefined): string => {
  if (userFolder === undefined) return folder;
  return folder === userFolder ? '~' : folder.startsWith(userFolder + sep) ? `~${folder.slice(userFolder.length)}` : folder;
};

const contextPct = ({ contextTokens, contextLimit }: FooterFacts): string | undefined => {
  if (contextTokens === undefined || contextLimit === undefined || contextLimit <= 0) return undefined;
  return `${Math.min(100, Math.max(0, Math.round((contextTokens / contextLimit) * 100)))}%`;
};

const seconds = (ms: number): string => (ms < 60_000 ? `${Math.round(ms / 1000)}s` : `${Math.floor(ms / 60_000)}m ${Math.round((ms % 60_000) / 1000)}s`);

const sayField = (field: FooterField, facts: FooterFacts): string | undefined => {
  switch (field) {
    case 'model':
      // `vendor/name` as routers write it: the name is what people know.
      return facts.model?.slice(facts.model.lastIndexOf('/') + 1);
    case 'context_pct':
      return contextPct(facts);
    case 'cwd':
      return facts.folder === undefined ? undefined : shortFolder(facts.folder, facts.userFolder);
    case 'tokens':
      return facts.inputTokens === undefined || facts.outputTokens === undefined ? undefined : `${short(facts.inputTokens)} in, ${short(facts.outputTokens)} out`;
    case 'cost':
      return facts.costUsd === undefined ? undefined : printUsd(facts.costUsd);
    case 'duration':
      return facts.durationMs === undefined ? undefined : seconds(facts.durationMs);
    default:
      throw field satisfies never;
  }
};

/** One line about an answer, to stand under it; empty when nothing is known. It is shown and not part of what was said. */
export const footerLine = (fields: readonly FooterField[], facts: FooterFacts): string =>
  fields
    .map((field) => sayField(field, facts))
    .filter((part) => part !== undefined && part !== '')
    .join(' · ');
