import { z } from 'zod';
import { defineSection } from '../../config/section.ts';
import type { SectionValues } from '../../config/section.ts';

/** What people are asked before it is done. */
export const approvalsSection = defineSection(
  'approvals',
  z
    .object({
      mode: z
        .enum(['manual', 'smart', 'off'])
        .describe('Who decides about commands that may do harm: a person is asked (`manual`), a model decides what is clear and a person the rest (`smart`), or nobody (`off`). Some commands are never run in any mode')
        .default('manual'),
      timeout: z.number().min(5).max(86_400).describe('Seconds that a person has to answer; no answer means no').default(300),
      deny: z
        .array(z.string().trim().min(1).max(500))
        .describe('Commands that are never run, whoever approves: patterns with `*` and `?`, compared without regard to case with the whole line and with each command in it, such as `git push*`')
        .default([]),
      cron_mode: z.enum(['deny', 'approve']).describe('What becomes of such a command in a scheduled job, where nobody can be asked').default('deny'),
      unattended_mode: z.enum(['deny', 'approve']).describe('What becomes of it in other places where nobody can be asked, such as the HTTP API').default('deny'),
      destructive_slash_confirm: z.boolean().describe('Ask before a command that makes people lose something: /new, /undo of several exchanges, /restart').default(true),
    })
    .prefault({}),
  'live',
);

/** What people have allowed for good. */
export const allowlistSection = defineSection(
  'command_allowlist',
  z.array(z.string().trim().min(1).max(200)).describe('Kinds of commands that are run without asking, such as `rm -r`; "Always" adds to it, /approvals shows it').default([]),
  'live',
);

export type ApprovalSettings = SectionValues<readonly [typeof approvalsSection, typeof allowlistSection]>;
