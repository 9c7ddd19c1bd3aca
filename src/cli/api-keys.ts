import { randomBytes } from 'node:crypto';
import { Command, InvalidArgumentError, Option } from 'commander';
import { ConfigError } from '../core/errors.ts';
import { newApiSecret } from '../http/api/secret.ts';
import { apiScopes, createApiKey, listApiKeys, revokeApiKey, rotateApiKey } from '../store/api/api-keys.ts';
import type { ApiKey, ApiKeyLimits, ApiScope } from '../store/api/api-keys.ts';
import { json, span, table } from './environment.ts';
import type { Terminal } from './environment.ts';
import { lookIntoStore, withStore } from './home/open-home.ts';

interface CreateFlags {
  readonly scope?: readonly ApiScope[];
  readonly atOnce?: number;
  readonly perMinute?: number;
  readonly usdPerDay?: number;
}

const positive = (text: string): number => {
  const value = Number(text);
  if (!Number.isFinite(value) || value <= 0) throw new InvalidArgumentError('must be a number above 0');
  return value;
};

const whole = (text: string): number => {
  const value = positive(text);
  if (!Number.isInteger(value)) throw new InvalidArgumentError('must be a whole number');
  return value;
};

const checkName = (name: string): void => {
  if (!/^[a-z0-9][a-z0-9._-]{0,62}$/i.test(name)) throw new ConfigError('A key is called by up to 63 letters, digits, dots, _ and -.');
};

const show = (terminal: Terminal, name: string, secret: string): void => terminal.write(`The key of ${name}, shown only now:\n\n  ${secret}\n`);

const create = (terminal: Terminal, name: string, flags: CreateFlags): Promise<void> =>
  withStore(terminal, async (store) => {
    checkName(name);
    const { secret, ...hashed } = newApiSecret();
    const { atOnce, perMinute, usdPerDay } = flags;
    const limits: ApiKeyLimits = { ...(atOnce !== undefined && { atOnce }), ...(perMinute !== undefined && { perMinute }), ...(usdPerDay !== undefined && { usdPerDay }) };
    const created = await store.write((tx) => createApiKey(tx, { id: randomBytes(8).toString('hex'), name, scopes: flags.scope ?? ['chat', 'sessions'], limits, ...hashed }));
    if (!created) throw new ConfigError(`There is a key called ${name} already. hermes api keys rotate ${name} gives it a new credential.`);
    show(terminal, name, secret);
  });

const limitsText = ({ atOnce, perMinute, usdPerDay }: ApiKeyLimits): string =>
  [atOnce === undefined ? '' : `${atOnce} at once`, perMinute === undefined ? '' : `${perMinute} a minute`, usdPerDay === undefined ? '' : `${usdPerDay} USD a day`].filter((part) => part !== '').join(', ');

const rowOf = (key: ApiKey, nowMs: number): readonly string[] => [key.name, key.hint, key.scopes.join(','), limitsText(key.limits), key.usedAtMs === null ? 'never used' : `used ${span(nowMs - key.usedAtMs)} ago`];

const list = (terminal: Terminal, flags: { json?: true }): Promise<void> =>
  lookIntoStore(terminal, async (store) => {
    const keys = await store.read(listApiKeys);
    if (flags.json === true) terminal.write(json(keys));
    else terminal.write(keys.length === 0 ? 'There are no keys but the one of API_SERVER_KEY, if it is set. hermes api keys create <name> makes one.\n' : `${table(keys.map((key) => rowOf(key, Date.now())))}\n`);
  });

const noKey = (name: string): ConfigError => new ConfigError(`There is no key called ${name}. hermes api keys list shows those that there are.`);

const rotate = (terminal: Terminal, name: string): Promise<void> =>
  lookIntoStore(terminal, async (store) => {
    const { secret, ...hashed } = newApiSecret();
    if (!(await store.write((tx) => rotateApiKey(tx, name, hashed)))) throw noKey(name);
    show(terminal, name, secret);
  });

const revoke = (terminal: Terminal, name: string): Promise<void> =>
  lookIntoStore(terminal, async (store) => {
    if (!(await store.write((tx) => revokeApiKey(tx, name)))) throw noKey(name);
    terminal.write(`The key of ${name} is dead.\n`);
  });

export const apiCommand = (terminal: Terminal): Command => {
  const keys = new Command('keys').description('Who may call the API');
  keys
    .command('create')
    .description('Make a key; its credential is shown once')
    .argument('<name>', 'whose it is')
    .addOption(new Option('--scope <scopes...>', 'what it may do; chat and sessions when left out').choices([...apiScopes]))
    .option('--at-once <n>', 'answers that it may ask for at the same time', whole)
    .option('--per-minute <n>', 'calls that it may make in a minute', whole)
    .option('--usd-per-day <usd>', 'what it may spend on models in a day', positive)
    .action((name: string, flags: CreateFlags) => create(terminal, name, flags));
  keys.command('list').description('The keys that there are').option('--json', 'print JSON').action((flags: { json?: true }) => list(terminal, flags));
  keys.command('rotate').description('Give a key a new credential; the old one is dead at once').argument('<name>').action((name: string) => rotate(terminal, name));
  keys.command('revoke').description('End a key at once').argument('<name>').action((name: string) => revoke(terminal, name));
  return new Command('api')
    .description('The API for programs')
    .addHelpText('after', '\nExamples:\n  hermes api keys create open-webui --per-minute 60 --usd-per-day 5\n  hermes api keys rotate open-webui')
    .addCommand(keys);
};
