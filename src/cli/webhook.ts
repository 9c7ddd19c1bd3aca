import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { Command, InvalidArgumentError, Option } from 'commander';
import { resolveHome } from '../config/home.ts';
import { ConfigError } from '../core/errors.ts';
import { resolveTarget } from '../delivery/resolve-target.ts';
import { systemClock } from '../lib/clock.ts';
import { newRedactor } from '../lib/redact.ts';
import { answersTo, callRoute, commentPlace, isNowhere, namedIn, newSecret, routeName, schemes, shellCall } from '../platforms/webhook/client.ts';
import type { Route, Scheme, TrialAnswer, WebhookOptions } from '../platforms/webhook/client.ts';
import { configTargets } from './configuration/config-targets.ts';
import { requireConfig } from './configuration/settings.ts';
import type { Config } from './configuration/settings.ts';
import { Exit, json, table } from './environment.ts';
import type { Terminal } from './environment.ts';
import { lookIntoStore } from './home/open-home.ts';
import { Draft } from './setup/draft.ts';
import type { Change, DraftOptions } from './setup/draft.ts';

const platform = 'webhook';

interface KnownRoute {
  readonly account: string;
  readonly name: string;
  readonly route: Route;
  /** Where it can be called on this machine. */
  readonly url: string;
}

const urlOf = ({ sections: { http } }: Pick<Config, 'sections'>, account: string, name: string): string => {
  const host = http.host === '0.0.0.0' || http.host === '::' ? '127.0.0.1' : http.host;
  return `http://${host.includes(':') ? `[${host}]` : host}:${http.port}/webhooks/${account}/${name}`;
};

const routesOf = (config: Config): readonly KnownRoute[] =>
  config.accounts
    .filter((account) => account.platform === platform)
    .flatMap(({ account, options }) => Object.entries((options as WebhookOptions).routes).map(([name, route]) => ({ account, name, route, url: urlOf(config, account, name) })));

const findRoute = (config: Config, account: string, name: string): KnownRoute => {
  const found = routesOf(config).find((known) => known.account === account && known.name === name);
  if (found !== undefined) return found;
  const names = routesOf(config).map((known) => known.name);
  throw new ConfigError(`There is no webhook ${name}. ${names.length === 0 ? 'Add it with hermes webhook add.' : `There are: ${names.join(', ')}`}`);
};

/** `platforms.webhook.routes.<name>`, or below the account that was named. */
const pathOf = (account: string, name: string): string => {
  const [, label] = account.split('@');
  return `platforms.${platform}.${label === undefined ? '' : `accounts.${label}.`}routes.${name}`;
};

const variableOf = (account: string, name: string): string => `${account}_${name}_SECRET`.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_');

interface AddFlags {
  readonly account: string;
  readonly scheme: Scheme;
  readonly prompt?: string;
  readonly event: readonly string[];
  readonly deliver?: string;
  readonly deliverOnly?: true;
  readonly agent?: string;
  readonly wait?: string;
  readonly secret?: string;
  readonly json?: true;
}

const checkName = (name: string): string => {
  if (!routeName.test(name)) throw new InvalidArgumentError('letters, digits, - and _, at most 64');
  return name;
};

const changesOf = (name: string, flags: AddFlags, secret: string): readonly Change[] => {
  const path = pathOf(flags.account, name);
  const variable = variableOf(flags.account, name);
  const given: readonly (readonly [string, string | undefined])[] = [
    ['scheme', flags.scheme === 'auto' ? undefined : flags.scheme],
    ['prompt', flags.prompt],
    ['events', flags.event.length === 0 ? undefined : JSON.stringify(flags.event)],
    ['agent', flags.agent],
    ['deliver', flags.deliver],
    ['deliver_only', flags.deliverOnly === true ? 'true' : undefined],
    ['wait_seconds', flags.wait],
  ];
  return [
    { path: `${path}.secret`, value: `\${${variable}}`, keep: { name: variable, value: secret, comment: `What calls of the webhook ${name} are signed with` } },
    ...given.flatMap(([key, value]) => (value === undefined ? [] : [{ path: `${path}.${key}`, value }])),
  ];
};

/** What keeps answers from their place; calls are not taken before it is mended. */
const undeliverable = (terminal: Terminal, config: Config, deliver = 'log'): Promise<readonly string[]> | readonly string[] => {
  // Which issue a comment belongs to is said by each call.
  const text = isNowhere(deliver) ? '' : namedIn(deliver).filter((place) => place !== commentPlace).join(', ');
  return text === '' ? [] : lookIntoStore(terminal, async (store) => (await store.read((db) => resolveTarget(db, configTargets(config), { text }))).problems);
};

const draftOf = (terminal: Terminal): DraftOptions => ({ home: resolveHome(terminal.env), env: terminal.env, redactor: newRedactor(), commands: terminal.commands });

const add = async (terminal: Terminal, name: string, flags: AddFlags): Promise<void> => {
  const secret = flags.secret ?? newSecret(flags.scheme);
  await Draft.edit(draftOf(terminal), async (draft) => {
    const before = draft.load();
    if (before.ok && routesOf(before).some((known) => known.account === flags.account && known.name === name)) throw new ConfigError(`There is a webhook ${name} already. Change it in config.yaml, or remove it first.`);
    const refused = draft.set(changesOf(name, flags, secret));
    if (refused !== undefined) throw new ConfigError(`The webhook was not added:\n${refused}`);
  });
  const config = await requireConfig(terminal);
  const { url } = findRoute(config, flags.account, name);
  const variable = variableOf(flags.account, name);
  const problems = await undeliverable(terminal, config, flags.deliver);
  if (flags.json === true) {
    terminal.write(json({ name, account: flags.account, url, secret, variable, problems }));
    return;
  }
  const example = shellCall(url, flags.scheme);
  terminal.write(
    [
      `The webhook ${name} was added. A gateway that runs takes it over by itself.`,
      '',
      `  Address  ${url}`,
      `  Secret   ${secret}`,
      `           (kept in .env as ${variable})`,
      '',
      ...problems.map((problem) => `⚠️ Its answers have no place to go, so that calls get 503: ${problem}`),
      'Others reach it under the public address of your reverse proxy, with the same path.',
      ...(example === undefined ? [] : ['', 'From a shell:', '', `SECRET='${secret}'`, example]),
      '',
      `Try it: hermes webhook test ${name}`,
      '',
    ].join('\n'),
  );
};

const list = async (terminal: Terminal, flags: { json?: true }): Promise<void> => {
  const routes = routesOf(await requireConfig(terminal));
  if (flags.json === true) {
    terminal.write(json(routes.map(({ account, name, url, route: { secret: _secret, previous_secret: _previous, ...route } }) => ({ account, name, url, ...route }))));
    return;
  }
  const rows = routes.map(({ name, url, route }) => [name, url, route.scheme, route.events.join(', ') || 'all', `${route.deliver}${route.deliver_only ? ' (as it is)' : ''}`]);
  terminal.write(routes.length === 0 ? 'There is no webhook yet. Add one with hermes webhook add.\n' : `${table([['NAME', 'ADDRESS', 'SIGNED', 'EVENTS', 'ANSWER'], ...rows])}\n`);
};

const remove = async (terminal: Terminal, name: string, flags: { account: string; json?: true }): Promise<void> => {
  findRoute(await requireConfig(terminal), flags.account, name);
  const variable = variableOf(flags.account, name);
  const { left } = await Draft.edit(draftOf(terminal), async (draft) => {
    const refused = draft.set([{ path: pathOf(flags.account, name), value: undefined }]);
    if (refused !== undefined) throw new ConfigError(`The webhook was not removed:\n${refused}`);
    return { left: draft.keeps(variable) ? variable : undefined };
  });
  terminal.write(flags.json === true ? json({ name, removed: true, ...(left !== undefined && { variable: left }) }) : `The webhook ${name} was removed.${left === undefined ? '' : ` Its secret is still in .env as ${left}.`}\n`);
};

interface TestFlags {
  readonly account: string;
  readonly payload?: string;
  readonly event?: string;
  readonly url?: string;
  readonly timeout: number;
  readonly json?: true;
}

const payloadOf = async (written: string | undefined, event: string | undefined): Promise<unknown> => {
  if (written === undefined) return { text: 'Hello from hermes webhook test', ...(event !== undefined && { event_type: event }), sent_at: new Date().toISOString() };
  const text = written.startsWith('@') ? await readFile(written.slice(1), 'utf8') : written;
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new ConfigError(`The payload is not JSON: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
};

const pollMs = 300;

/** The answer that comes after the call has been taken. */
const comeBack = async (known: KnownRoute, delivery: string, signal: AbortSignal): Promise<string | undefined> => {
  while (!signal.aborted) {
    const [answer] = await answersTo({ url: known.url, route: known.route, delivery }, signal);
    if (answer !== undefined) return answer.text;
    await systemClock.sleep(pollMs, signal);
  }
  return undefined;
};

const answerOf = async (known: KnownRoute, { code, body }: TrialAnswer, signal: AbortSignal): Promise<string | undefined> => {
  if (typeof body['answer'] === 'string') return body['answer'];
  if (code !== 202 || known.route.deliver_only || typeof body['delivery'] !== 'string') return undefined;
  try {
    return await comeBack(known, body['delivery'], signal);
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  }
};

const tryOut = async (terminal: Terminal, name: string, flags: TestFlags): Promise<void> => {
  const found = findRoute(await requireConfig(terminal), flags.account, name);
  const known = flags.url === undefined ? found : { ...found, url: flags.url };
  const event = flags.event ?? known.route.events[0];
  const payload = await payloadOf(flags.payload, event);
  const signal = AbortSignal.timeout(flags.timeout * 1000);
  let called: TrialAnswer;
  try {
    called = await callRoute({ url: known.url, route: known.route, id: `test_${randomUUID()}`, event, payload, nowMs: systemClock.now() }, signal);
  } catch (error) {
    throw new ConfigError(`Nobody answers at ${known.url}. Does the gateway run (hermes status)? --url names another address.`, { cause: error });
  }
  const answer = await answerOf(known, called, signal);
  if (flags.json === true) terminal.write(json({ code: called.code, ...called.body, ...(answer !== undefined && { answer }) }));
  else terminal.write([`${called.code} ${String(called.body['status'] ?? called.body['error'] ?? '')}`, ...(answer === undefined ? [] : ['', answer]), ''].join('\n'));
  if (called.code >= 300) throw new Exit(1);
};

const seconds = (text: string): number => {
  const value = Number(text);
  if (!Number.isFinite(value) || value < 1 || value > 3600) throw new InvalidArgumentError('a number of seconds from 1 to 3600');
  return value;
};

const collect = (event: string, events: readonly string[]): readonly string[] => [...events, event];

/** `hermes webhook add|list|test|remove` */
export const webhookCommand = (terminal: Terminal): Command => {
  const command = new Command('webhook').description('Let programs call the agent, and see what they get');
  const account = ['--account <account>', 'which account of the platform webhook', platform] as const;
  command
    .command('add')
    .description('Write a webhook into config.yaml and its secret into .env')
    .argument('<name>', 'part of the address', checkName)
    .addOption(new Option('--scheme <scheme>', 'how calls are signed').choices(schemes.filter((scheme) => scheme !== 'hmac')).default('auto'))
    .option('--prompt <text>', 'what the agent is asked; {a.b} puts in a value of the payload')
    .option('--event <kind>', 'take only events of this kind; may be given several times', collect, [])
    .option('--deliver <target>', 'who gets the answer, such as telegram or telegram:#ops')
    .option('--deliver-only', 'ask nobody: the filled-in prompt is the message')
    .option('--agent <agent>', 'who answers')
    .option('--wait <seconds>', 'how long a call waits for the answer')
    .option('--secret <secret>', 'the secret that the sender has given you; otherwise one is made')
    .option(...account)
    .option('--json', 'print JSON')
    .addHelpText('after', "\nExamples:\n  hermes webhook add github --scheme github --event pull_request --prompt 'Review {pull_request.html_url}' --deliver telegram\n  hermes webhook add alerts --prompt '🔥 {host}: {message}' --deliver telegram:#ops --deliver-only\n  hermes webhook add ask --prompt '{text}' --wait 60")
    .action((name: string, flags: AddFlags) => add(terminal, name, flags));
  command
    .command('list')
    .description('List the webhooks and their addresses')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExamples:\n  hermes webhook list\n  hermes webhook list --json')
    .action((flags: { json?: true }) => list(terminal, flags));
  command
    .command('test')
    .description('Call a webhook of the running gateway, signed, and show the answer')
    .argument('<name>', 'which webhook')
    .option('--payload <json>', 'what to send, or @file')
    .option('--event <kind>', 'the kind of event; the first that the webhook takes, otherwise')
    .option('--url <address>', 'where to call, instead of this machine')
    .option('--timeout <seconds>', 'how long to wait for the answer', seconds, 60)
    .option(...account)
    .option('--json', 'print JSON')
    .addHelpText('after', "\nExamples:\n  hermes webhook test github --payload @payload.json\n  hermes webhook test ask --payload '{\"text\":\"How are you?\"}'")
    .action((name: string, flags: TestFlags) => tryOut(terminal, name, flags));
  command
    .command('remove')
    .description('Take a webhook out of config.yaml')
    .argument('<name>', 'which webhook')
    .option(...account)
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExamples:\n  hermes webhook remove github')
    .action((name: string, flags: { account: string; json?: true }) => remove(terminal, name, flags));
  return command;
};
