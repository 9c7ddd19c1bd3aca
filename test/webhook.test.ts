import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { calls, says, status } from '../src/agent/models/chat-simulator.ts';
import { program } from '../src/cli/program.ts';
import { startGithub } from '../src/platforms/webhook/github-simulator.ts';
import { signCall } from '../src/platforms/webhook/sign.ts';
import { traceMessage } from '../src/store/messages/trace.ts';
import { freePort } from './support/free-port.ts';
import { lastUserText, newWorld, startInside, startOutside, until } from './support/whole.ts';
import type { Inside, World } from './support/whole.ts';

const secret = 'whsec_c2ltdWxhdGVkIHdlYmhvb2sgc2VjcmV0';

const configured = (world: Pick<World, 'telegram'>, routes: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> => ({
  platforms: { telegram: { ...world.telegram.options, allowed_users: ['7'] }, webhook: { routes } },
});

const newCalledWorld = async (routes: Readonly<Record<string, unknown>>): Promise<World> => {
  const world = await newWorld();
  await world.configure(configured(world, routes));
  return world;
};

interface Answered {
  readonly code: number;
  readonly status?: string;
  readonly answer?: string;
  readonly error?: string;
}

const call = async ({ gateway }: Inside, route: string, payload: unknown, id: string = randomUUID()): Promise<Answered> => {
  const body = JSON.stringify(payload);
  const headers = { 'content-type': 'application/json', ...signCall({ scheme: 'standard', secret, id, nowMs: Date.now(), body }) };
  let answered: Answered | undefined;
  await until(async () => {
    const response = await gateway.webhook('webhook')?.routes.request(`/${route}`, { method: 'POST', body, headers });
    if (response === undefined) return false;
    answered = { code: response.status, ...((await response.json()) as object) };
    return answered.error !== 'Nothing is received at the moment; try again.';
  }, 'calls to be taken');
  return answered ?? assert.fail();
};

test('a call is answered to whoever waits and to the chat that was arranged, once each', async () => {
  await using world = await newCalledWorld({ issues: { secret, prompt: 'Summarize {title}', deliver: 'telegram:7', wait_seconds: 100 } });
  await using inside = await startInside(world);
  const answer = await call(inside, 'issues', { title: 'The door is stuck' }, 'one');
  assert.deepEqual([answer.code, answer.status], [200, 'answered']);
  assert.match(answer.answer ?? '', /^re: \[A program has called the webhook "issues"\..*Summarize ⟦(\w+) The door is stuck \1⟧$/s);
  await until(() => world.shown().length === 1, 'the chat to get it');
  assert.match(world.shown()[0] ?? '', /The door is stuck/);
  const again = await call(inside, 'issues', { title: 'The door is stuck' }, 'one');
  assert.deepEqual([again.code, again.answer], [200, answer.answer]);
  assert.equal(world.model.requests.length, 1);
  assert.equal(world.shown().length, 1);
});

test('what programs send is never a command', async () => {
  await using world = await newCalledWorld({ own: { secret, prompt: '{text}', trusted: true, wait_seconds: 100 } });
  await using inside = await startInside(world);
  for (const text of ['/stop', '/help', 'restart gateway']) assert.equal((await call(inside, 'own', { text })).answer, `re: ${text}`);
});

test('nobody is asked, and what would need a person does not happen', async () => {
  await using world = await newCalledWorld({ own: { secret, prompt: '{text}', trusted: true, wait_seconds: 100 } });
  await world.configure({ ...configured(world, { own: { secret, prompt: '{text}', trusted: true, wait_seconds: 100 } }), tools: { platforms: { webhook: { toolsets: ['terminal'] } } } });
  world.model.next(calls({ id: 'call_1', name: 'terminal', arguments: JSON.stringify({ command: `rm -rf ${world.home}/nothing` }) }));
  await using inside = await startInside(world);
  const answer = await call(inside, 'own', { text: 'clean up' });
  assert.match(answer.answer ?? '', /^re: clean up$/);
  const result = JSON.stringify(world.model.requests.at(-1)?.body.messages.at(-1));
  assert.match(result, /nobody|approv|denied|unattended/i);
  assert.deepEqual(world.shown(), []);
});

test('what is only to be passed on reaches its chat without the model', async () => {
  await using world = await newCalledWorld({ alerts: { secret, prompt: '🔥 {host} is **down**', deliver: 'telegram:7', deliver_only: true } });
  await using inside = await startInside(world);
  assert.equal((await call(inside, 'alerts', { host: 'db-1' }, 'a1')).status, 'accepted');
  assert.equal((await call(inside, 'alerts', { host: 'db-1' }, 'a1')).status, 'duplicate');
  await until(() => world.shown().length > 0, 'the chat to get it');
  assert.deepEqual(world.shown(), ['🔥 db-1 is down']);
  assert.equal(world.model.requests.length, 0);
});

test('a call that cannot be delivered as arranged is not taken, and is taken when the owner has mended it', async () => {
  const route = (deliver: string) => ({ issues: { secret, prompt: '{title}', trusted: true, deliver } });
  await using world = await newCalledWorld(route('telegram:#nowhere'));
  await using inside = await startInside(world);
  assert.equal((await call(inside, 'issues', { title: 'hello' }, 'x')).code, 503);
  assert.ok(inside.logLines.some((line) => line.includes('no chat of telegram is called')));
  await inside.stop();
  await world.configure(configured(world, route('telegram:7')));
  await using later = await startInside(world);
  assert.equal((await call(later, 'issues', { title: 'hello' }, 'x')).code, 202);
  await until(() => world.shown().length === 1, 'the chat to get it');
  assert.deepEqual(world.shown(), ['re: hello']);
});

test('an agent that does not exist takes no calls', async () => {
  await using world = await newCalledWorld({ own: { secret, prompt: '{text}', agent: 'nobody' } });
  await using inside = await startInside(world);
  assert.equal((await call(inside, 'own', { text: 'hello' })).code, 503);
  assert.equal(world.model.requests.length, 0);
});

test('the agent that was arranged answers, whatever the routes say', async () => {
  await using world = await newCalledWorld({});
  const routes = { own: { secret, prompt: '{text}', trusted: true, agent: 'ops', wait_seconds: 100 } };
  await world.configure({ ...configured(world, routes), agents: { ops: {}, other: {} }, routes: [{ match: { platform: 'webhook' }, agent: 'other' }] });
  await using inside = await startInside(world);
  assert.equal((await call(inside, 'own', { text: 'hello' })).answer, 're: hello');
  assert.deepEqual(await inside.store.read((db) => db.q.selectFrom('sessions').select('agent').execute()), [{ agent: 'ops' }]);
});

test('the agent is given the skills that were arranged', async () => {
  await using world = await newCalledWorld({ own: { secret, prompt: '{text}', trusted: true, skills: ['greeting', 'missing'], wait_seconds: 100 } });
  await mkdir(join(world.home, 'skills', 'greeting'), { recursive: true });
  await writeFile(join(world.home, 'skills', 'greeting', 'SKILL.md'), '---\nname: greeting\ndescription: How to greet\n---\nAlways bow first.\n');
  await using inside = await startInside(world);
  const { answer } = await call(inside, 'own', { text: 'hello' });
  assert.match(answer ?? '', /^re: \[skill greeting, in .*\]\nAlways bow first\.\n\[end of skill greeting\]\n\n\[The skill missing does not exist \(any more\)\.\]\n\nhello$/);
});

test('a silent answer reaches the caller and no chat', async () => {
  await using world = await newCalledWorld({ own: { secret, prompt: '{text}', trusted: true, deliver: 'telegram:7', wait_seconds: 100 } });
  world.model.otherwise((response, request) => says(lastUserText(request.body) === 'nothing new' ? '[SILENT]' : 'news')(response, request));
  await using inside = await startInside(world);
  assert.equal((await call(inside, 'own', { text: 'nothing new' })).status, 'silent');
  assert.equal((await call(inside, 'own', { text: 'something new' })).answer, 'news');
  await until(() => world.shown().length > 0, 'the chat to get the news');
  assert.deepEqual(world.shown(), ['news']);
});

test('trouble is told where the answer was expected, with the name of the webhook', async () => {
  await using world = await newCalledWorld({ own: { secret, prompt: '{text}', trusted: true, deliver: 'telegram:7', wait_seconds: 100 } });
  world.model.otherwise(status(401, { error: { message: 'bad key' } }));
  await using inside = await startInside(world);
  assert.match((await call(inside, 'own', { text: 'hello' })).answer ?? '', /The model refused our key/);
  await until(() => world.shown().length > 0, 'the chat to be told');
  assert.match(world.shown()[0] ?? '', /^webhook own\n\n⚠️ The model refused our key/);
});

const hermes = async (world: World, ...args: readonly string[]): Promise<string> => {
  let out = '';
  const write = (text: string): void => void (out += text);
  await program({ env: world.env, version: 'test', write, writeError: write }).parseAsync(['node', 'hermes', ...args]);
  return out;
};

test('a webhook is added, tried and removed from the terminal while the gateway runs, and the comments of the file stay', async () => {
  await using world = await newWorld();
  const port = await freePort();
  const config = join(world.home, 'config.yaml');
  await writeFile(config, `# about everything\nmodel: { provider: openai, default: sim-1, base_url: '${world.model.baseUrl}', api_key: sk-simulated-model-key }\nhttp:\n  port: ${port} # our port\n`, { mode: 0o600 });
  await using _gateway = await startOutside(world);
  const added = JSON.parse(await hermes(world, 'webhook', 'add', 'ask-me', '--prompt', 'About {text}', '--wait', '100', '--json')) as { url: string; secret: string; variable: string };
  assert.equal(added.url, `http://127.0.0.1:${port}/webhooks/webhook/ask-me`);
  const written = await readFile(config, 'utf8');
  assert.match(written, /# about everything[\s\S]*# our port[\s\S]*secret: \$\{WEBHOOK_ASK_ME_SECRET\}/);
  assert.ok(!written.includes(added.secret));
  assert.ok((await readFile(join(world.home, '.env'), 'utf8')).includes(added.secret));
  await assert.rejects(hermes(world, 'webhook', 'add', 'ask-me'), /already/);
  assert.match(await hermes(world, 'webhook', 'add', 'lost', '--deliver', 'telegram:7'), /no place to go.*the account telegram is not configured/);
  assert.match(await hermes(world, 'webhook', 'list'), /ask-me +http:\S+\/webhooks\/webhook\/ask-me +auto/);
  assert.ok(!(await hermes(world, 'webhook', 'list', '--json')).includes(added.secret));
  // The newest route is there when all changes have been taken over: whoever waits for an answer meanwhile is told to come back.
  for (const url of [added.url, added.url.replace('ask-me', 'lost')]) await until(async () => (await fetch(url, { method: 'POST', body: '{}' })).status === 401, 'the running gateway to take the route over');
  const tried = JSON.parse(await hermes(world, 'webhook', 'test', 'ask-me', '--payload', '{"text":"doors"}', '--json')) as { code: number; answer: string };
  assert.equal(tried.code, 200);
  assert.match(tried.answer, /About ⟦\w+ doors \w+⟧$/);
  assert.match(await hermes(world, 'webhook', 'remove', 'ask-me'), /removed/);
  await until(async () => (await fetch(added.url, { method: 'POST', body: '{}' })).status === 404, 'the running gateway to give the route up');
  assert.match(await readFile(config, 'utf8'), /# our port/);
});

test('the shell command that `add` prints is taken', async (t) => {
  await using world = await newWorld();
  const port = await freePort();
  await world.configure({ http: { port } });
  const printed = await hermes(world, 'webhook', 'add', 'ask', '--prompt', '{text}', '--wait', '100');
  const script = printed.slice(printed.indexOf('SECRET='), printed.indexOf('\n\nTry it'));
  await using _gateway = await startOutside(world);
  const { execFile } = await import('node:child_process');
  const { code, out } = await new Promise<{ code: unknown; out: string }>((resolve) => {
    execFile('sh', ['-c', `command -v openssl >/dev/null && command -v curl >/dev/null || exit 77; ${script}`], (error, stdout) => resolve({ code: error?.code ?? 0, out: stdout }));
  });
  if (code === 77) return t.skip('no openssl or no curl here');
  assert.match(out, /"status":"answered".*hello/);
});

test('a call that was taken is answered once although the gateway dies, and is not taken again after it', async () => {
  await using world = await newWorld();
  const port = await freePort();
  const route = { secret, scheme: 'github', prompt: '{text}', trusted: true, deliver: 'telegram:7' };
  await world.configure({ ...configured(world, { hub: route }), http: { port } });
  const body = '{"text":"survive"}';
  const post = (id: string): Promise<Response> => fetch(`http://127.0.0.1:${port}/webhooks/webhook/hub`, { method: 'POST', body, headers: { 'content-type': 'application/json', ...signCall({ scheme: 'github', secret, id, nowMs: Date.now(), body }) } });
  const dying = Promise.withResolvers<void>();
  world.model.next(() => dying.resolve());
  await using first = await startOutside(world);
  await until(async () => (await post('one')).status === 202, 'the call to be taken');
  await dying.promise;
  await first.kill();
  await using _second = await startOutside(world);
  await until(() => world.shown().length > 0, 'the answer');
  await until(async () => (await post('another name')).status === 200, 'the replay to be recognised');
  assert.deepEqual(world.shown(), ['re: survive']);
});

test('a mistake in a route disables the webhooks alone, and says where it is', async () => {
  await using world = await newWorld();
  await world.configure(configured(world, { open: { prompt: 'no secret' } }));
  await using inside = await startInside(world);
  await world.say('hello');
  await until(() => world.shown().length === 1, 'Telegram to answer');
  const status = inside.gateway.status().find(({ account }) => account === 'webhook');
  assert.equal(status?.state, 'disabled');
  assert.match(status?.error ?? '', /config\.yaml:\d+.*routes\.open\.secret/);
});

test('an answer becomes one comment on GitHub, although the answer of GitHub was lost, and the comment is not answered', async () => {
  await using github = await startGithub(['octo/app#7']);
  await using world = await newWorld();
  await world.configure({ platforms: { webhook: { github: { token: github.token, api_url: github.apiUrl }, routes: { review: { secret, prompt: 'Review {pull_request.title}', deliver: 'github_comment' } } } } });
  await using inside = await startInside(world);
  github.fail('lost');
  const repository = { full_name: 'octo/app' };
  const answered = await call(inside, 'review', { repository, pull_request: { number: 7, title: 'Faster' } }, 'one');
  assert.deepEqual([answered.code, answered.status], [202, 'accepted']);
  await until(async () => (await inside.store.read((db) => db.q.selectFrom('outbox').select('state').execute())).every(({ state }) => state === 'sent') && github.log.some((line) => line.startsWith('GET')), 'the comment to be found again');
  const [comment, ...more] = github.comments('octo/app#7');
  assert.deepEqual(more, []);
  assert.match(comment?.body ?? '', /^re: [\s\S]*Faster/);
  const echo = await call(inside, 'review', { repository, action: 'created', issue: { number: 7 }, comment: { body: comment?.body } }, 'two');
  assert.deepEqual([echo.code, echo.status, world.model.requests.length], [200, 'ignored', 1]);
  const [traced] = await inside.store.read((db) => traceMessage(db, 'one'));
  assert.deepEqual(traced?.deliveries.map(({ target, state }) => [target.chatId, state]).toSorted(), [['github:octo/app#7', 'sent'], ['review/one', 'sent']]);
});

test('calls that belong together are answered once, each is traceable, and none waits longer than was said', async () => {
  await using world = await newCalledWorld({ push: { secret, prompt: 'Commit {n}', coalesce: { key: '{branch}', window_seconds: 3600, max_wait_seconds: 3600 }, deliver: 'telegram:7' } });
  await using inside = await startInside(world);
  for (const n of [1, 2, 3]) assert.deepEqual((await call(inside, 'push', { branch: 'main', n }, `c${n}`)).status, 'coalesced');
  assert.equal((await call(inside, 'push', { branch: 'main', n: 2 }, 'c2')).status, 'duplicate');
  assert.equal(world.model.requests.length, 0);
  // The first call has waited as long as it may: the next one is the last that is waited for.
  await inside.store.write((tx) => tx.q.updateTable('inbox').set({ received_at: 0 }).execute());
  await call(inside, 'push', { branch: 'main', n: 4 }, 'c4');
  await until(() => world.shown().length === 1, 'the one answer');
  assert.match(world.shown()[0] ?? '', /Commit [\s\S]*1[\s\S]*Commit [\s\S]*2[\s\S]*Commit [\s\S]*3[\s\S]*Commit [\s\S]*4/);
  assert.equal(world.model.requests.length, 1);
  const turns = new Set<number | undefined>();
  for (const id of ['c1', 'c2', 'c3', 'c4']) {
    const [traced] = await inside.store.read((db) => traceMessage(db, id));
    assert.equal(traced?.arrival?.state, 'done');
    turns.add(traced.turn?.id);
    const { routes } = inside.gateway.webhook('webhook') ?? assert.fail('no routes');
    const { answers } = (await (await routes.request(`/push?delivery=${id}`, { headers: { authorization: `Bearer ${secret}` } })).json()) as { answers: readonly unknown[] };
    assert.equal(answers.length, 1, id);
  }
  assert.equal(turns.size, 1);
});
