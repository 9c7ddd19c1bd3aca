import type { InboundEvent } from '../../core/message.ts';
import type { TranscriptMessage } from '../../core/transcript.ts';
import type { Hooks } from '../../hooks/hooks.ts';
import type { Logger } from '../../lib/logger.ts';
import type { Decision } from '../../store/messages/inbox.ts';
import { chooseAgent } from '../hooks/choose-agent.ts';
import { inboundContext } from '../hooks/contexts.ts';
import type { GatewaySettings } from '../settings.ts';
import { apiAccount } from './place.ts';
import type { ApiPlace } from './place.ts';

export interface AdmitDeps {
  readonly hooks: Hooks;
  readonly log: Logger;
  settings(): GatewaySettings;
}

/** A call that is authorized and says something. */
export interface ArrivedCall {
  readonly id: string;
  readonly place: ApiPlace;
  /** The agent that it names, if it does. */
  readonly agent: string | undefined;
  readonly rows: readonly TranscriptMessage[];
}

export type AdmittedCall =
  | { readonly type: 'admitted'; readonly agent: string; readonly rows: readonly TranscriptMessage[]; readonly decisions: readonly Decision[] }
  /** A hook has it that nothing comes of it; `answer` is for whoever called. */
  | { readonly type: 'dropped'; readonly answer: string | undefined };

const withText = (rows: readonly TranscriptMessage[], text: string): readonly TranscriptMessage[] => {
  const last = rows.at(-1);
  return last === undefined || last.content === text ? rows : [...rows.slice(0, -1), { ...last, content: text }];
};

/** Shows a call to the routes and hooks, as every message of every platform: they say who answers, and what becomes of what was said. */
export const admitCall = async (deps: AdmitDeps, call: ArrivedCall): Promise<AdmittedCall> => {
  const { chat, sender } = call.place;
  const text = call.rows.findLast(({ role }) => role === 'user')?.content ?? '';
  const event: InboundEvent = { account: apiAccount, kind: 'message', nativeId: call.id, messageId: call.id, chat, sender, text, media: [], addressed: true, mentioned: false, sentAtMs: 0 };
  const chosen = call.agent === undefined ? await chooseAgent(deps, event) : { agent: { id: call.agent }, decisions: [] };
  const admitted = { type: 'admitted', agent: chosen.agent.id, rows: call.rows, decisions: chosen.decisions } as const;
  // Results of tools are nobody's words.
  if (!deps.hooks.inUse || call.rows.at(-1)?.role !== 'user') return admitted;
  const { state, decisions } = await deps.hooks.inbound(inboundContext(event, { agent: admitted.agent, sessionKey: '' }));
  if (state.type === 'drop') return { type: 'dropped', answer: state.message };
  return { ...admitted, rows: withText(call.rows, state.text), decisions: [...admitted.decisions, ...decisions] };
};
