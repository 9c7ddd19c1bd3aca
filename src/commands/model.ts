import { factsOf, providerNames } from '../agent/models/endpoints/providers.ts';
import { parseModelName } from '../agent/models/facts/model-name.ts';
import { defaultModel } from '../agent/models/options.ts';
import { changeSettings, findSession } from '../store/sessions/sessions.ts';
import type { Writing } from '../store/store.ts';
import type { AfterCommit, Command, CommandCall } from './contract.ts';

const mostListed = 60;

/** A name as endpoints have them; anything else is a slip of the finger. */
const modelName = /^[\w.:/@+-]{1,200}$/;

const usage = 'Usage: /model [name|default] [--global]';

const list = async (call: CommandCall, { signal, log }: AfterCommit): Promise<string> => {
  const names = await call.reach.listModels(signal).catch((error: unknown) => {
    signal.throwIfAborted();
    log.warn({ err: error }, 'models.not_listed');
  });
  if (names === undefined) return '⚠️ The list of models could not be had right now. A name can still be set with /model <name>.';
  if (names.length === 0) return '';
  const more = names.length > mostListed ? `\nand ${names.length - mostListed} more` : '';
  return `**Models**\n${names.slice(0, mostListed).map((name) => `- \`${name}\``).join('\n')}${more}`;
};

const show = async (tx: Writing, call: CommandCall): Promise<string> => {
  const session = await findSession(tx, call.sessionId);
  const general = defaultModel(call.settings.model);
  const here = session?.settings.model;
  call.after((after) => list(call, after));
  return [here === undefined ? `**Model** \`${general}\`` : `**Model** \`${here}\` in this conversation, \`${general}\` elsewhere`, 'Change it with /model <name>, go back with /model default.'].join('\n');
};

const switchHere = async (tx: Writing, call: CommandCall, name: string): Promise<string> => {
  const session = await findSession(tx, call.sessionId);
  const { model: _model, ...rest } = session?.settings ?? {};
  const general = defaultModel(call.settings.model);
  await changeSettings(tx, call.sessionId, name === 'default' ? rest : { ...rest, model: name });
  return name === 'default' ? `This conversation uses the general model again, \`${general}\`.` : `From the next answer on, this conversation uses \`${name}\`.`;
};

/** Why it cannot be changed for everybody. */
const refusal = (call: CommandCall, name: string): string | undefined => {
  if (!call.access.mayAdminister) return '⛔ Only admins may change the model for everybody.';
  return call.reach.changeSetting === undefined ? `This gateway cannot write its configuration. Set \`model.default: ${name}\` there.` : undefined;
};

const switchEverywhere = async (call: CommandCall, name: string): Promise<string> => {
  const problem = await call.reach.changeSetting?.('model.default', name);
  return problem === undefined ? `Every conversation without a model of its own uses \`${name}\` from now on.` : `⚠️ That was not written: ${problem}`;
};

/** Of `nonsuch:gpt` the part that may be meant for a provider and is none; a tag of a model looks the same, such as `qwen3:8b`. */
const unknownProvider = (name: string): string | undefined => {
  const [before = '', ...rest] = name.split(':');
  return rest.length === 0 || before === 'ft' || before.includes('/') || parseModelName(name).provider !== undefined ? undefined : before;
};

/** Whether the endpoint has a model of that name. Where it does not say, those are believed whose models have tags. */
const hasModel = async (call: CommandCall, name: string, { signal, log }: AfterCommit): Promise<boolean> => {
  const { provider, base_url: address } = call.settings.model;
  const names = await call.reach.listModels(signal).catch((error: unknown) => {
    signal.throwIfAborted();
    log.warn({ err: error }, 'models.not_listed');
  });
  if (names !== undefined && names.length > 0) return names.includes(name);
  return provider !== 'demo' && (provider === 'custom' || factsOf(provider).local === true || address !== undefined);
};

const switchIfKnown = async (call: CommandCall, wish: { readonly name: string; readonly provider: string; readonly isGlobal: boolean }, after: AfterCommit): Promise<string> => {
  const { name, provider, isGlobal } = wish;
  if (!(await hasModel(call, name, after))) return `There is no provider “${provider}”, and no model \`${name}\`. The providers are ${providerNames.join(', ')}.`;
  return isGlobal ? switchEverywhere(call, name) : after.store.write((tx) => switchHere(tx, call, name));
};

export const model: Command = {
  name: 'model',
  aliases: [],
  category: 'Configuration',
  description: 'Show or change the model that answers here',
  args: '[name|default] [--global]',
  whileRunning: 'allowed',
  async run(tx, call) {
    const words = call.args.split(/\s+/).filter((word) => word !== '');
    const isGlobal = words.includes('--global');
    const [name, ...others] = words.filter((word) => word !== '--global' && word !== '--session');
    if (name === undefined) return isGlobal ? usage : show(tx, call);
    if (others.length > 0 || !modelName.test(name) || (isGlobal && name === 'default')) return usage;
    const refused = isGlobal ? refusal(call, name) : undefined;
    if (refused !== undefined) return refused;
    const provider = unknownProvider(name);
    if (provider === undefined && !isGlobal) return switchHere(tx, call, name);
    call.after((after) => (provider === undefined ? switchEverywhere(call, name) : switchIfKnown(call, { name, provider, isGlobal }, after)));
    return '';
  },
};
