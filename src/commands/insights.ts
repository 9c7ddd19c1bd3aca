import { readInsights } from '../store/sessions/insights.ts';
import type { Insights } from '../store/sessions/insights.ts';
import type { Command, CommandCall } from './contract.ts';
import { mine } from './own-sessions.ts';

const defaultDays = 7;
const mostDays = 90;
const dayMs = 86_400_000;
const barChars = 12;
const mostBars = 31;

/** `1.2M`, `34k`, `567`. */
const short = (count: number): string => {
  if (count >= 1_000_000) return `${(count / 1_000_000).toFixed(1)}M`;
  return count >= 10_000 ? `${Math.round(count / 1000)}k` : String(count);
};

const chart = (daily: Insights['daily']): string => {
  const most = Math.max(...daily.map(({ answers }) => answers));
  return daily
    .slice(-mostBars)
    .map(({ day, answers }) => `${new Date(day * dayMs).toISOString().slice(5, 10)} ${'█'.repeat(Math.max(1, Math.round((answers / most) * barChars)))} ${answers}`)
    .join('\n');
};

const report = (insights: Insights, days: number, everybody: boolean): string => {
  const { answers, failed, sessions, messages, inputTokens, outputTokens, models, places, daily } = insights;
  const listed = (items: readonly { readonly answers: number; readonly name: string }[]): string => items.map((item) => `\`${item.name}\` ${item.answers}`).join(', ');
  return [
    `📊 **The last ${days === 1 ? 'day' : `${days} days`}**, ${everybody ? 'everybody’s' : 'yours'}`,
    `**Answers** ${insights.cut ? 'more than ' : ''}${answers}${failed > 0 ? `, ${failed} of them failed` : ''}`,
    `**Conversations** ${sessions}, with ${messages} messages`,
    `**Tokens** ${short(inputTokens)} in, ${short(outputTokens)} out`,
    models.length === 0 ? '' : `**Models** ${listed(models.map((each) => ({ name: each.model, answers: each.answers })))}`,
    places.length < 2 ? '' : `**Busiest places** ${listed(places.map((each) => ({ name: `${each.account}:${each.chatId}`, answers: each.answers })))}`,
    daily.length === 0 ? '' : `\`\`\`\n${chart(daily)}\n\`\`\``,
  ]
    .filter((line) => line !== '')
    .join('\n');
};

/** What concerns others is for whoever may decide about others, and not for a chat in which more people read. */
const seesEverybody = (call: CommandCall): boolean => call.access.mayAdminister && call.event.chat.type === 'dm';

export const insights: Command = {
  name: 'insights',
  aliases: [],
  category: 'Info',
  description: 'Show what was used over the last days',
  args: '[days]',
  whileRunning: 'allowed',
  async run(_tx, call) {
    const days = call.args === '' ? defaultDays : Number(call.args);
    if (!Number.isInteger(days) || days < 1 || days > mostDays) return `Usage: /insights [days], from 1 to ${mostDays}.`;
    const everybody = seesEverybody(call);
    call.after(async ({ store }) => {
      const found = await store.read((db) => readInsights(db, { agent: call.agent, days, ...(!everybody && { owner: mine(call) }) }));
      return found.answers === 0 ? 'Nothing was answered in that time.' : report(found, days, everybody);
    });
    return '';
  },
};
