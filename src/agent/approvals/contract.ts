import type { ToolContext } from '../tools/contract.ts';

/** Something a tool wants to do that may do harm. */
export interface ApprovalRequest {
  /** The tool that asks. */
  readonly tool: string;
  /** Exactly what would be done, as it is shown and as an approval is bound to it: the command, the path. */
  readonly subject: string;
  /** Why it is asked, one short phrase each ("deletes files recursively"). Never empty. */
  readonly reasons: readonly string[];
  /** The class that "for this session" and "always" cover, for example `rm -r` or `write config.yaml`. */
  readonly pattern: string;
  /** Further classes that it belongs to; all of them have to be covered. */
  readonly morePatterns?: readonly string[];
  /** How far an approval may reach; `always` when left out. */
  readonly widest?: 'once' | 'session' | 'always';
}

export type ApprovalVerdict = { readonly allowed: true; readonly how: 'once' | 'session' | 'always' | 'mode' } | { readonly allowed: false; readonly reason: string };

/** Decides by settings, by what was allowed before, or by asking a person. Whatever is not allowed in so many words is denied. */
export type Approver = (request: ApprovalRequest, context: ToolContext, signal: AbortSignal) => Promise<ApprovalVerdict>;
