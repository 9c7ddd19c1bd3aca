import type { Titler } from '../../sessions/titles/session-titles.ts';
import type { AgentRuntime } from './agent-runtime.ts';

/** Who titles the agent's conversations; undefined where they are to get none, or where only the demo could be asked. */
export const titlerOfAgent = (runtime: Pick<AgentRuntime, 'settings' | 'models' | 'redact'>): Titler | undefined => {
  const { model, auxiliary } = runtime.settings;
  const own = auxiliary['title_generation'];
  const hasOwnModel = own !== undefined && (own.provider !== 'auto' || (own.base_url ?? '') !== '');
  if (own?.enabled === false || (model.provider === 'demo' && !hasOwnModel)) return undefined;
  return { complete: runtime.models.completeText('title_generation'), language: own?.language === '' ? undefined : own?.language, redact: (text) => runtime.redact(text) };
};
