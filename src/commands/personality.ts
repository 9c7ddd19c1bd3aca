import { findPersonality, listPersonalities, plain } from '../agent/personalities.ts';
import { changeSettings, findSession } from '../store/sessions/sessions.ts';
import type { Command, CommandCall } from './contract.ts';

const speaksAs = (name: string | undefined): string => (name === undefined || name === plain ? 'plainly' : `as \`${name}\``);

const list = ({ settings: { agent } }: CommandCall, chosen: string | undefined): string =>
  [
    `Here I speak ${speaksAs(chosen ?? agent.personality)}. I can also speak as:`,
    ...listPersonalities(agent.personalities).map(({ name, description }) => `- \`${name}\`${description === '' ? '' : ` ${description}`}`),
    'Choose one with /personality <name>; /personality none for none, /personality default for what the owner has set.',
  ].join('\n');

export const personality: Command = {
  name: 'personality',
  aliases: [],
  category: 'Configuration',
  description: 'Choose how I speak in this conversation',
  args: '[name|none|default]',
  whileRunning: 'refused',
  async run(tx, call) {
    const session = await findSession(tx, call.sessionId);
    const { personality: chosen, ...rest } = session?.settings ?? {};
    const name = call.args.toLowerCase();
    if (name === '') return list(call, chosen);
    if (name !== 'default' && name !== plain && findPersonality(call.settings.agent.personalities, name) === undefined) return `There is no personality “${call.args.slice(0, 40).toWellFormed()}”. /personality shows them.`;
    await changeSettings(tx, call.sessionId, name === 'default' ? rest : { ...rest, personality: name });
    return `From the next answer on, I speak ${speaksAs(name === 'default' ? call.settings.agent.personality : name)} in this conversation.`;
  },
};
