import { defaultModel } from '../agent/models/options.ts';
import { changeSettings, findSession } from '../store/sessions.ts';
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

const switchEverywhere = (call: CommandCall, name: string): string => {
  const { changeSetting } = call.reach;
  if (!call.access.mayAdminister) return '⛔ Only admins may change the model for everybody.';
  if (changeSetting === undefined) return `This gateway cannot write its configuration. Set \`model.default: ${name}\` there.`;
  call.after(async () => {
    const problem = await changeSetting('model.default', name);
    return problem === undefined ? `Every conversation without a model of its own uses \`${name}\` from now on.` : `⚠️ That was not written: ${problem}`;
  });
  return '';
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
    return isGlobal ? switchEverywhere(call, name) : switchHere(tx, call, name);
  },
};
