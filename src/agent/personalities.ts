import { z } from 'zod';

const personality = z.union([
  z.string().trim().min(1).max(4000),
  z.strictObject({
    description: z.string().trim().max(200).optional().describe('What /personality says about it'),
    system_prompt: z.string().trim().min(1).max(4000).describe('How the agent is to speak'),
    tone: z.string().trim().max(200).optional().describe('Its tone, in a few words'),
    style: z.string().trim().max(200).optional().describe('Its style, in a few words'),
  }),
]);

const personalityName = /^[a-z0-9][a-z0-9_-]{0,31}$/;

/** Ways of speaking that the owner has defined, by name. */
export const personalitiesSetting = z
  .record(z.string().trim().toLowerCase().regex(personalityName, 'must be a name of letters, digits, _ and -'), personality)
  .describe('Ways of speaking that people can choose with /personality, by name: a text, or `{description, system_prompt, tone, style}`');

export type Personalities = z.output<typeof personalitiesSetting>;

/** A way of speaking, as it is offered and as the model is told. */
export interface Personality {
  readonly name: string;
  readonly description: string;
  readonly text: string;
}

const builtIn: Personalities = {
  concise: { description: 'As few words as possible', system_prompt: 'Answer in as few words as the matter allows. No greetings, no repetition, no closing offers.' },
  technical: { description: 'Exact, with numbers and reasons', system_prompt: 'Speak as an experienced engineer to another: exact terms, numbers with units, the reason behind each recommendation, and what can go wrong.' },
  teacher: { description: 'Explains step by step', system_prompt: 'Explain like a patient teacher: start from what the person knows, one step at a time, with a small example, and check that it was understood.' },
  creative: { description: 'Unusual ideas first', system_prompt: 'Offer ideas that are not the first ones to come to mind, and say in a line each what speaks for them. Vivid language is welcome, false facts are not.' },
  pirate: { description: 'Arr', system_prompt: 'Speak like a good-natured pirate. What you say stays correct and useful all the same.' },
};

const toPersonality = (name: string, given: z.output<typeof personality>): Personality => {
  if (typeof given === 'string') return { name, description: given.replaceAll(/\s+/g, ' ').slice(0, 80).toWellFormed(), text: given };
  const extras = [given.tone === undefined ? undefined : `Tone: ${given.tone}`, given.style === undefined ? undefined : `Style: ${given.style}`];
  return { name, description: given.description ?? '', text: [given.system_prompt, ...extras.filter((extra) => extra !== undefined)].join('\n') };
};

/** The choice of no personality, also where the owner has set one. */
export const plain = 'none';

/** All that can be chosen, ours and the owner's, by name; the owner's win. */
export const listPersonalities = (own: Personalities): readonly Personality[] =>
  Object.entries({ ...builtIn, ...own })
    .map(([name, given]) => toPersonality(name, given))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));

export const findPersonality = (own: Personalities, name: string): Personality | undefined => listPersonalities(own).find((each) => each.name === name.toLowerCase());

/** What speaks in a conversation: its own choice, else the owner's; undefined when that is nothing or no longer exists. */
export const personalityFor = (settings: { readonly personality?: string | undefined; readonly personalities: Personalities }, chosen: string | undefined): Personality | undefined => {
  const name = chosen ?? settings.personality;
  return name === undefined || name === plain ? undefined : findPersonality(settings.personalities, name);
};

/** The prompt of a turn with a way of speaking; what is stored of the session's prompt stays without. */
export const withPersonality = (system: string, chosen: Personality | undefined): string => (chosen === undefined ? system : `${system}\n\n## How to speak\n\n${chosen.text}`);
