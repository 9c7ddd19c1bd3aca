import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { inspect } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { calls, says } from '../src/agent/models/chat-simulator.ts';
import type { Answer } from '../src/agent/models/chat-simulator.ts';
import { program } from '../src/cli/program.ts';
import { hermes } from './support/terminal.ts';
import { newWorld, startOutside, until } from './support/whole.ts';
import type { Outside, World } from './support/whole.ts';

const secretNames = ['model', 'fallback', 'endpoint', 'api', 'page', 'mail', 'matrix', 'telegram', 'discord', 'slackBot', 'slackApp', 'route', 'outgoing', 'outgoingUrl', 'mcpHeader', 'mcpEnv', 'mcpQuery', 'mcpArgument', 'mcpOption', 'mcpLine', 'modelQuery', 'collectorLogin', 'collectorQuery', 'search', 'honcho', 'openai', 'database', 'unused'] as const;
type Planted = Readonly<Record<(typeof secretNames)[number], string>>;

/** Characters that addresses and JSON write differently are among them where the setting allows them. */
const plant = (): Planted => {
  const value = (name: string): string => `pLant-${name}-${randomBytes(9).toString('base64url')}`;
  const plain = Object.fromEntries(secretNames.map((name) => [name, value(name)])) as Planted;
  return { ...plain, telegram: `8000000001:${randomBytes(27).toString('base64url')}`, discord: `${value('a')}.${value('b')}.${value('c')}`, slackBot: `xoxb-${value('slack')}`, slackApp: `xapp-${value('app')}`, mail: `${value('mail')} "+/%ü`, route: `${value('route')}"+/%` };
};

const formsOf = (value: string): readonly string[] => {
  const bytes = Buffer.from(value);
  return [...new Set([value, encodeURIComponent(value), JSON.stringify(value).slice(1, -1), bytes.toString('base64').replace(/=+$/, ''), bytes.toString('base64url'), bytes.toString('hex')])];
};

/** Whatever long runs of base64 in a text stand for, wherever they begin. */
const decodedRuns = (content: string): string =>
  [...content.matchAll(/[A-Za-z0-9+/_-]{24,}/g)].map(([run]) => [0, 1, 2, 3].map((start) => Buffer.from(run.slice(start), 'base64').toString('latin1')).join(' ')).join(' ');

/** A text byte by byte, as it is and with its base64 read. */
const viewsOf = (content: string | Buffer): readonly string[] => {
  const plain = Buffer.from(content).toString('latin1');
  return [plain, decodedRuns(plain)];
};

/** Where a secret stands in any of its forms. */
const leaksOf = (views: readonly string[], value: string): readonly string[] => {
  const forms = formsOf(value).map((form) => Buffer.from(form).toString('latin1'));
  return views.flatMap((view) => forms.filter((form) => view.includes(form)).map((form) => view.slice(Math.max(0, view.indexOf(form) - 100), view.indexOf(form) + form.length)));
};

interface Hostile extends AsyncDisposable {
  readonly url: string;
  readonly mailPort: number;
  readonly databasePort: number;
  readonly calls: () => number;
}

const listening = async (server: Server): Promise<number> => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
};

/** Refuses everything, in the words of every platform at once, and repeats all that it was sent. */
const startHostile = async (): Promise<Hostile> => {
  let count = 0;
  const web = createServer(async (request, response) => {
    count += 1;
    const heard = `refused ${request.method} ${request.url} ${JSON.stringify(request.headers)} ${await text(request)} ${Buffer.from(request.headers.authorization ?? '').toString('base64')}`;
    const body = { ok: false, error_code: 401, description: `Unauthorized: ${heard}`, error: `invalid_auth ${heard}`, errcode: 'M_UNKNOWN_TOKEN', message: heard, code: 0 };
    response.writeHead(401, { 'content-type': 'application/json', 'www-authenticate': `Bearer error="${encodeURIComponent(heard).slice(0, 2000)}"` }).end(JSON.stringify(body));
  });
  const mail = createTcpServer((socket) => {
    socket.setEncoding('utf8').on('error', () => socket.destroy());
    socket.write('* OK ready\r\n');
    socket.on('data', (lines: string) => {
      for (const line of lines.split('\r\n').filter((some) => some !== '')) {
        const [tag = '', verb = ''] = line.split(' ');
        if (verb.toUpperCase() === 'CAPABILITY') socket.write(`* CAPABILITY IMAP4rev1 LOGIN\r\n${tag} OK done\r\n`);
        else socket.write(`${tag} NO [AUTHENTICATIONFAILED] wrong: ${line}\r\n`);
      }
    });
  });
  const database = createTcpServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.on('data', (data: Buffer) => {
      if (data.readInt32BE(0) === 8) socket.write('N');
      else if (data[0] === 0) socket.write(Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 3]));
      else {
        const fields = `SFATAL\0C28P01\0Mwrong password: ${data.subarray(5, -1).toString()}\0\0`;
        const head = Buffer.alloc(5, 'E');
        head.writeInt32BE(Buffer.byteLength(fields) + 4, 1);
        socket.end(Buffer.concat([head, Buffer.from(fields)]));
      }
    });
  });
  const port = await listening(web);
  const databasePort = await listening(database);
  const mailPort = await listening(mail);
  return {
    url: `http://127.0.0.1:${port}`,
    mailPort,
    databasePort,
    calls: () => count,
    async [Symbol.asyncDispose]() {
      web.closeAllConnections();
      web.close();
      mail.close();
      database.close();
    },
  };
};

const configure = async (world: World, planted: Planted, hostile: Hostile): Promise<void> => {
  await mkdir(join(world.home, 'secrets'), { mode: 0o700 });
  await writeFile(join(world.home, 'slack-token'), `${planted.slackApp}\n`, { mode: 0o600 });
  await writeFile(join(world.home, '.env.20260101-000000.bak'), `SOME_UNUSED_TOKEN=${planted.unused}\n`, { mode: 0o600 });
  await writeFile(join(world.home, 'secrets', 'model.mjs'), `console.error(${JSON.stringify(planted.model)}); console.log(${JSON.stringify(planted.model)});`, { mode: 0o600 });
  await writeFile(join(world.home, '.env'), [`EMAIL_PASSWORD='${planted.mail}'`, `HONCHO_API_KEY=${planted.honcho}`, `SOME_UNUSED_TOKEN=${planted.unused}`, ''].join('\n'), { mode: 0o600 });
  await world.configure({
    model: {
      provider: 'openai',
      default: 'sim-1',
      base_url: world.model.baseUrl,
      max_retries: 0,
      api_key_cmd: `${process.execPath} secrets/model.mjs`,
      endpoints: { anthropic: { api_key: planted.endpoint } },
    },
    fallback_providers: [{ provider: 'custom', model: 'other', base_url: `${hostile.url}/v1?key=${planted.modelQuery}`, api_key: planted.fallback }],
    telemetry: { otlp_endpoint: `${hostile.url.replace('//', `//ada:${planted.collectorLogin}@`)}/?token=${planted.collectorQuery}` },
    api_server: { key: planted.api },
    http: { port: 0, token: planted.page },
    web: { backend: 'brave', base_url: hostile.url, api_key: planted.search },
    memory: { provider: 'honcho', honcho: { base_url: hostile.url } },
    approvals: { mode: 'off' },
    terminal: { env_passthrough: ['OPENAI_API_KEY', 'TELEGRAM_BOT_TOKEN'] },
    webhooks_out: { other: { url: `${hostile.url}/hooks/${planted.outgoingUrl}`, secret: planted.outgoing, events: ['*'], max_attempts: 1 } },
    mcp_servers: {
      hosted: { url: `${hostile.url}/mcp?api_key=${planted.mcpQuery}` },
      arguments: { command: process.execPath, args: ['-e', 'console.error(process.argv); console.log(process.argv.join(" ")); process.exitCode = 1', '--', '--token', planted.mcpArgument, `--api-key=${planted.mcpOption}`, '--header', `X-Api-Key: ${planted.mcpLine}`] },
      web: { url: `${hostile.url}/mcp`, headers: { Authorization: `Bearer ${planted.mcpHeader}` } },
      program: { command: process.execPath, args: ['-e', 'console.error(process.env); console.log(JSON.stringify(process.env)); process.exitCode = 1'], env: { SERVICE_LOGIN: planted.mcpEnv } },
    },
    platforms: {
      telegram: { ...world.telegram.options, allowed_users: ['7'], allow_admin_from: ['7'], accounts: { broken: { ...world.telegram.options, base_url: hostile.url, token: planted.telegram } } },
      discord: { token: planted.discord, base_url: hostile.url },
      slack: { bot_token: planted.slackBot, app_token_file: 'slack-token', base_url: `${hostile.url}/` },
      matrix: { homeserver: hostile.url, access_token: planted.matrix },
      email: { address: 'ada@example.org', imap_host: '127.0.0.1', imap_port: hostile.mailPort, imap_security: 'none', smtp_host: '127.0.0.1', smtp_port: hostile.mailPort, smtp_security: 'none' },
      webhook: { routes: { deploy: { secret: planted.route, scheme: 'bearer' } } },
    },
  });
};

/** Refuses with the key in its words, as some endpoints do. */
const quotesKey: Answer = (response, request) => {
  response.writeHead(401, { 'content-type': 'application/json' }).end(JSON.stringify({ error: { message: `Incorrect API key provided: ${request.headers.authorization}. ${Buffer.from(request.headers.authorization ?? '').toString('base64')}`, code: 'invalid_api_key' } }));
};

/** Everything that stands in files, but for those whose business secrets are. */
const filesOf = async (home: string): Promise<readonly (readonly [string, Buffer])[]> => {
  const names = await readdir(home, { recursive: true, withFileTypes: true });
  const paths = names.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name).slice(home.length + 1));
  const keeps = (path: string): boolean => ['config.yaml', '.env', '.env.20260101-000000.bak', 'slack-token'].includes(path) || path.startsWith('secrets/') || path.startsWith('backups/last-good/');
  return Promise.all(paths.filter((path) => !keeps(path)).map(async (path) => [path, path.endsWith('.gz') ? gunzipSync(await readFile(join(home, path))) : await readFile(join(home, path))] as const));
};

/** What a command says here in this process, its error included. */
const printed = async (env: Readonly<Record<string, string>>, args: readonly string[]): Promise<string> => {
  let out = '';
  const write = (some: string): void => void (out += some);
  try {
    await program({ env: { PATH: process.env['PATH'], ...env }, version: 'test', write, writeError: write }).parseAsync(['node', 'hermes', ...args]);
  } catch (error) {
    out += inspect(error);
  }
  return out;
};

interface Scene {
  readonly world: World;
  readonly planted: Planted;
  readonly hostile: Hostile;
  readonly gateway: Outside;
  /** Everything that left the gateway, by where it was found. */
  readonly seen: Map<string, string | Buffer>;
}

const runOutside = async ({ world, seen }: Pick<Scene, 'world' | 'seen'>, call: { readonly what: string; readonly env: Readonly<Record<string, string>>; readonly command: readonly string[] }): Promise<void> => {
  const { out, err } = await hermes({ ...world, env: { ...world.env, ...call.env } }, call.command);
  seen.set(`hermes ${call.command.join(' ')} ${call.what}`, `${out}\n${err}`);
};

/** Turns that fail, and tools that print what they can reach. */
const failInChats = async ({ world, hostile, gateway }: Scene): Promise<void> => {
  const answered = async (said: string): Promise<void> => {
    const before = world.shown().length;
    await world.say(said);
    await until(() => world.shown().length > before, `an answer to ${said}`);
  };
  const tool = (id: string, name: string, args: object) => ({ id, name, arguments: JSON.stringify(args) });
  world.model.otherwise(says('done'));
  world.model.next(calls(tool('1', 'terminal', { command: `env; tr '\\0' '\\n' < /proc/$PPID/environ | grep OPENAI; cd ${world.home}; cat config.yaml .env secrets/* slack-token; base64 -w0 slack-token .env config.yaml` }), tool('2', 'read_file', { path: join(world.home, 'config.yaml') }), tool('3', 'read_file', { path: join(world.home, 'slack-token') }), tool('4', 'web_search', { query: 'x' }), tool('5', 'search_files', { pattern: 'pLant', path: world.home })));
  await answered('show me everything');
  world.model.next(quotesKey, quotesKey, quotesKey);
  await answered('fail, please');
  for (const command of ['/debug', '/status', '/platform', '/tools', '/mcp']) await answered(command);
  await until(() => gateway.output().includes('matrix') && hostile.calls() > 5, 'the accounts to fail');
};

/** Everything that answers over HTTP. */
const knockOnDoors = async ({ world, planted, gateway, seen }: Scene): Promise<void> => {
  const url = /"url":"([^"]+)"/.exec(gateway.output())?.[1] ?? '';
  assert.doesNotMatch(gateway.output(), /login#/);
  const link = /login#(\S+)/.exec(await printed(world.env, ['login']))?.[1] ?? '';
  const ask = async (what: string, path: string, init: RequestInit = {}): Promise<Response> => {
    const response = await fetch(`${url}${path}`, init);
    seen.set(what, `${response.status} ${JSON.stringify([...response.headers])} ${await response.clone().text()}`);
    return response;
  };
  const json = { 'content-type': 'application/json', origin: url };
  const login = await ask('login', '/api/login', { method: 'POST', headers: json, body: JSON.stringify({ token: link }) });
  assert.equal(login.status, 200);
  const cookie = (login.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
  for (const path of ['/metrics', '/ready', '/health', '/api/people', '/api/device-checks', '/api/session', '/api/web/chats']) await ask(`GET ${path}`, path, { headers: { cookie } });
  const bearer = { 'content-type': 'application/json', authorization: `Bearer ${planted.api}` };
  for (const path of ['/health/detailed', '/v1/models', '/api/sessions', '/api/jobs']) await ask(`GET ${path} with a key`, path, { headers: bearer });
  world.model.next(quotesKey, quotesKey, quotesKey);
  await ask('a completion that fails', '/v1/chat/completions', { method: 'POST', headers: bearer, body: JSON.stringify({ model: 'hermes', messages: [{ role: 'user', content: 'x' }] }) });
  await ask('a wrong key', '/v1/models', { headers: { authorization: `Bearer ${planted.page}` } });
  await ask('a call of a webhook', '/webhooks/webhook/deploy', { method: 'POST', headers: { authorization: `Bearer ${planted.route}`, 'content-type': 'application/json' }, body: '{broken' });
};

/** What the command line tells beside the gateway, and without its database. */
const askCommands = async ({ world, planted, hostile, seen }: Scene): Promise<void> => {
  const commands = [['status'], ['status', '--json'], ['doctor'], ['doctor', '--security'], ['doctor', '--json'], ['config', 'show'], ['config', 'show', '--json'], ['config', 'check'], ['trace', 'in_1'], ['trace', 'in_2', '--json'], ['logs', '-n', '5000'], ['audit'], ['sessions', 'list'], ['export'], ['gateway', 'status'], ['gateway', 'dump'], ['webhook', 'list'], ['mcp', 'list'], ['hooks', 'list'], ['access', 'list'], ['channels'], ['explain', '--platform', 'telegram', '--chat', '7', '--user', '7'], ['api', 'keys', 'list'], ['agent', 'list'], ['cron', 'list'], ['backup', '--no-secrets', join(world.home, 'kept.tar.gz')]];
  for (const command of commands) seen.set(`hermes ${command.join(' ')}`, await printed({ ...world.env, OPENAI_API_KEY: planted.openai }, command));
  const session = /\d{8}_\d{6}_[0-9a-f]{8}/.exec(String(seen.get('hermes sessions list')))?.[0] ?? assert.fail('there is no session');
  for (const format of ['markdown', 'jsonl']) seen.set(`hermes sessions export as ${format}`, await printed(world.env, ['sessions', 'export', session, '--format', format]));
  const unreachable = `postgres://hermes:${encodeURIComponent(planted.database)}@127.0.0.1:${hostile.databasePort}/hermes`;
  const elsewhere = { DATABASE_URL: unreachable, HERMES_HOME: join(world.home, 'elsewhere') };
  await Promise.all([['status'], ['doctor'], ['config', 'show'], ['gateway', 'run']].map((command) => runOutside({ world, seen }, { what: 'without its database', env: elsewhere, command })));
};

test('a secret that is configured appears nowhere else, whatever fails and whoever quotes it', { timeout: 600_000 }, async () => {
  await using hostile = await startHostile();
  await using world = await newWorld();
  const planted = plant();
  await configure(world, planted, hostile);
  const crash = join(world.home, 'secrets', 'crash.mjs');
  await writeFile(crash, `process.once('SIGWINCH', () => { setImmediate(() => { throw new Error('cannot go on with ' + ${JSON.stringify(planted.model)} + ' and ' + ${JSON.stringify(Buffer.from(planted.api).toString('base64'))}, { cause: new Error(${JSON.stringify(planted.mail)}) }); }); });`);
  const env = { OPENAI_API_KEY: planted.openai, HERMES_LOG_LEVEL: 'debug', NODE_OPTIONS: `--import=${pathToFileURL(crash).href}` };
  await using gateway = await startOutside(world, env);
  const seen: Scene['seen'] = new Map();
  const scene: Scene = { world, planted, hostile, gateway, seen };
  await failInChats(scene);
  await knockOnDoors(scene);
  await askCommands(scene);

  // The end, by an error that nobody caught.
  gateway.child.kill('SIGWINCH');
  await until(() => gateway.child.exitCode !== null, 'the crash');
  assert.equal(gateway.child.exitCode, 1);
  await until(() => gateway.output().includes('"gateway.crashed"'), 'it to have said so');

  // Without a gateway, the command line asks servers itself.
  world.model.otherwise(quotesKey);
  await Promise.all([['doctor'], ['status'], ['hooks', 'test', 'gateway:startup'], ['chat', '-q', 'hello']].map((command) => runOutside(scene, { what: 'alone', env: { OPENAI_API_KEY: planted.openai }, command })));

  seen.set('output of the gateway', gateway.output());
  seen.set('what people were shown', JSON.stringify(world.telegram.visible('7')));
  seen.set('what the model was given', JSON.stringify(world.model.requests.map(({ body }) => body)));
  for (const [path, content] of await filesOf(world.home)) seen.set(path, content);
  const everything = Object.entries({ ...planted, simulator: world.telegram.options['token'] as string });
  const leaks = [...seen].flatMap(([where, content]) => {
    const views = viewsOf(content);
    return everything.flatMap(([name, value]) => leaksOf(views, value).map((found) => `${name} in ${where}: …${found}`));
  });
  assert.deepEqual(leaks, []);
  assert.match(String(seen.get('hermes config show')), /command \(config\.yaml:1\)/);
  // The search would find nothing either if nothing had happened.
  if (process.platform === 'linux') assert.match(String(seen.get('what the model was given')), /OPENAI_API_KEY=\*\*\*/);
  assert.match(String(seen.get('hermes sessions export as jsonl')), /SOME_UNUSED_TOKEN=\*\*\*/);
  assert.match(String(seen.get('output of the gateway')), /Incorrect API key provided: Bearer \*\*\*/);
});
