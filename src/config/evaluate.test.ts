import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { evaluate } from './evaluate.ts';
import { formatProblem } from './problem.ts';
import { complaints, evaluateSample, samplePlatforms, validSample } from './sample-config.ts';
import { defineSection } from './section.ts';

const sourceOf = (config: ReturnType<typeof validSample>, path: string): string | undefined => config.settings.find((setting) => setting.path.join('.') === path)?.source;

test('without files and variables every section has its defaults', () => {
  const { sections, disabled, warnings } = validSample('');
  assert.deepEqual(sections.http, { host: '127.0.0.1', port: 8642, trusted: false, origins: [], limits: { body_bytes: 1024 } });
  assert.equal(sections.model.provider, 'demo');
  assert.equal(sections.default_agent, 'main');
  assert.deepEqual([sections.agents, sections.routes, disabled, warnings], [{}, [], [], []]);
});

test('sections are typed by their schemas', () => {
  const { sections } = validSample('');
  const port: number = sections.http.port;
  const provider: 'demo' | 'openai' | 'anthropic' = sections.model.provider;
  // @ts-expect-error there is no section of this name
  const nothing: unknown = sections.htpp;
  assert.deepEqual([port, provider, nothing], [8642, 'demo', undefined]);
});

test('the environment beats .env, which beats the file', () => {
  const file = 'http: { port: 1, host: a }\n';
  assert.equal(validSample(file).sections.http.port, 1);
  assert.equal(validSample(file, { envFile: 'HERMES_HTTP_PORT=2' }).sections.http.port, 2);
  const config = validSample(file, { envFile: 'HERMES_HTTP_PORT=2', env: { HERMES_HTTP_PORT: '3' } });
  assert.equal(config.sections.http.port, 3);
  assert.equal(config.sections.http.host, 'a');
  assert.equal(sourceOf(config, 'http.port'), 'env HERMES_HTTP_PORT');
  assert.equal(sourceOf(config, 'http.host'), 'config.yaml:1');
  assert.equal(sourceOf(config, 'http.trusted'), 'default');
  assert.equal(sourceOf(validSample(file, { envFile: '\nHERMES_HTTP_PORT=2' }), 'http.port'), '.env:2 HERMES_HTTP_PORT');
});

test('a variable set to nothing counts as unset', () => {
  assert.equal(validSample('http: { port: 1 }', { envFile: 'HERMES_HTTP_PORT=2', env: { HERMES_HTTP_PORT: '' } }).sections.http.port, 2);
});

test('variables are read by the type of their setting', () => {
  for (const word of ['true', '1', 'yes', 'on', 'TRUE', 'On']) assert.equal(validSample('', { env: { HERMES_HTTP_TRUSTED: word } }).sections.http.trusted, true, word);
  for (const word of ['false', '0', 'no', 'off', 'No']) assert.equal(validSample('http: { trusted: true }', { env: { HERMES_HTTP_TRUSTED: word } }).sections.http.trusted, false, word);
  assert.deepEqual(validSample('', { env: { HERMES_HTTP_ORIGINS: 'https://a.example, https://b.example,' } }).sections.http.origins, ['https://a.example', 'https://b.example']);
  assert.equal(validSample('', { env: { HERMES_DEFAULT_AGENT: '007' } }).sections.default_agent, '007');
  assert.deepEqual(complaints(evaluateSample('', { env: { HERMES_HTTP_TRUSTED: 'maybe' } })), ['environment  http.trusted (HERMES_HTTP_TRUSTED)  must be true or false, not text']);
  assert.deepEqual(complaints(evaluateSample('', { envFile: 'HERMES_HTTP_PORT=80a' })), ['.env:1  http.port (HERMES_HTTP_PORT)  must be a number, not text']);
});

test('words and quoted digits in the file are read by type too', () => {
  const { sections } = validSample('http:\n  trusted: yes\n  port: "99"\nmodel:\n  default: 4.10\n');
  assert.deepEqual([sections.http.trusted, sections.http.port, sections.model.default], [true, 99, '4.10']);
});

test('references in the file are replaced from the environment and .env', () => {
  const text = 'model: { default: "${WHO:-nobody}-${B}", base_url: "http://${HOST}/v1" }\nhttp: { port: ${PORT} }\n';
  const { sections } = validSample(text, { env: { HOST: 'h.example', B: 'b' }, envFile: 'PORT=77\nHOST=lost' });
  assert.deepEqual([sections.model.default, sections.model.base_url, sections.http.port], ['nobody-b', 'http://h.example/v1', 77]);
  assert.equal(validSample('model: { default: "$${HOME}" }').sections.model.default, '${HOME}');
  assert.equal(validSample('model: { default: ${A:-x,y [z]}, provider: demo } # ${B}', {}).sections.model.default, 'x,y [z]');
});

test('an unset reference is one problem that names file, line and variable', () => {
  assert.deepEqual(complaints(evaluateSample('http:\n  port: ${NOT_SET_ANYWHERE}\n')), [
    'config.yaml:2:9  http.port  the variable NOT_SET_ANYWHERE is not set; set it, or write ${NOT_SET_ANYWHERE:-default}',
  ]);
  assert.equal(evaluateSample('terminal: { shell: "${NOT_SET_ANYWHERE}" }').ok, true, 'sections that are not used are not looked into');
});

test('mistakes come with file, line, column, path and suggestion, all of them at once', () => {
  const text = `model: { provider: openia }
http:
  prot: 1
  port: 70000
  limits:
    body_bites: 5
  origins: [https://ok.example, nope]
agents:
  coder:
    modle: x
routes:
  - agent: coder
    match: [1]
`;
  assert.deepEqual(complaints(evaluateSample(text)), [
    'config.yaml:1:20  model.provider  must be one of demo, openai, anthropic; did you mean openai?',
    'config.yaml:3:3  http.prot  unknown key; did you mean port?',
    'config.yaml:4:9  http.port  must be at most 65535',
    'config.yaml:6:5  http.limits.body_bites  unknown key; did you mean body_bytes?',
    'config.yaml:7:33  http.origins[1]  must be a URL such as https://example.org',
    'config.yaml:9:3  agents.coder.model  is required',
    'config.yaml:10:5  agents.coder.modle  unknown key; did you mean model?',
    'config.yaml:13:5  routes[0].match  must be a mapping, not a list',
  ]);
});

test("a message of the schema's author is kept", () => {
  assert.match(complaints(evaluateSample('platforms: { email: { address: a@b.example, password: abc } }'))[0] ?? '', /is too short for a password/);
});

test('a key without a value is a problem, a mapping without keys is not', () => {
  assert.deepEqual(complaints(evaluateSample('http:\n  port:\n')), ['config.yaml:2:3  http.port  has no value; give it one or remove the key']);
  assert.equal(validSample('http:\nmodel:\nplatforms:\ngateway:\nagents:\n').sections.http.port, 8642);
});

test('sections of the original are accepted and named in one warning', () => {
  const { warnings } = validSample('terminal: { backend: docker }\nbrowser: {}\n_config_version: 33\nx-mine: 1\ngateway: { respawn_storm: {} }\n');
  assert.deepEqual(warnings.map(formatProblem), ['config.yaml  accepted but not used here: terminal, browser, gateway.respawn_storm']);
});

test('any other top-level key is an error that says where it belongs', () => {
  const first = (text: string): string => complaints(evaluateSample(text))[0] ?? '';
  assert.equal(first('htpp: {}\n'), 'config.yaml:1:1  htpp  unknown key; did you mean http?');
  assert.equal(first('platform: {}\n'), 'config.yaml:1:1  platform  unknown key; did you mean platforms?');
  assert.equal(first('port: 1\n'), 'config.yaml:1:1  port  unknown key; did you mean http.port?');
  assert.equal(first('allow_all_users: true\n'), 'config.yaml:1:1  allow_all_users  unknown key; did you mean platforms.<name>.allow_all_users?');
  assert.equal(first('unauthorized_dm_behaviour: ignore\n'), 'config.yaml:1:1  unauthorized_dm_behaviour  unknown key; did you mean platforms.<name>.unauthorized_dm_behavior?');
  assert.equal(first('zzz: 1\n'), 'config.yaml:1:1  zzz  unknown key');
});

test('a section of ours is never taken for one of the original', () => {
  const input = { env: {}, sections: [defineSection('terminal', z.object({ backend: z.enum(['local']) }), 'live')], platforms: samplePlatforms };
  assert.deepEqual(complaints(evaluate(input, { config: 'terminal: { backend: dokcer }', env: undefined }).config), ['config.yaml:1:22  terminal.backend  must be local']);
});

test('keys below gateway count as if they stood at the top level, where the top level wins', () => {
  const { sections, accounts } = validSample('gateway:\n  http: { port: 1 }\n  model: { default: below }\n  allow_all_users: true\n  platforms: { telegram: { token: t } }\nmodel: { default: above }\n');
  assert.deepEqual([sections.http.port, sections.model.default, sections.gateway.allow_all_users], [1, 'above', true]);
  assert.deepEqual(accounts.map(({ account }) => account), ['telegram', 'web']);
  assert.deepEqual(complaints(evaluateSample('gateway:\n  htpp: {}\n')), ['config.yaml:2:3  gateway.htpp  unknown key; did you mean http?']);
  assert.deepEqual(complaints(evaluateSample('gateway:\n  http: { prot: 1 }\n')), ['config.yaml:2:11  gateway.http.prot  unknown key; did you mean port?']);
});

test('a bare value in place of a mapping is read as its shorthand', () => {
  assert.equal(validSample('model: some-model\n').sections.model.default, 'some-model');
});

test('a misspelt variable is an error in .env and a warning in the environment', () => {
  assert.deepEqual(complaints(evaluateSample('', { envFile: 'GATEWAY_ALOW_ALL_USERS=false' })), ['.env:1  (GATEWAY_ALOW_ALL_USERS)  unknown variable; did you mean GATEWAY_ALLOW_ALL_USERS?']);
  const inEnvironment = validSample('', { env: { GATEWAY_ALOW_ALL_USERS: 'false', EDITOR: 'vi', SSH_ALLOWED_USERS: 'x' } });
  assert.deepEqual(inEnvironment.warnings.map(formatProblem), ['environment  (GATEWAY_ALOW_ALL_USERS)  unknown variable; did you mean GATEWAY_ALLOW_ALL_USERS?']);
});

test('a variable set twice in .env is a warning, and the later one counts', () => {
  const config = validSample('', { envFile: 'HERMES_HTTP_PORT=1\nHERMES_HTTP_PORT=2' });
  assert.equal(config.sections.http.port, 2);
  assert.match(formatProblem(config.warnings[0]!), /^\.env:2 .*HERMES_HTTP_PORT.*more than once/);
});

test('settings that name a variable can look it up', () => {
  const config = validSample('', { env: { A: 'env' }, envFile: 'A=file\nB=file' });
  assert.deepEqual([config.variable('A'), config.variable('B'), config.variable('C'), config.variable('constructor')], ['env', 'file', undefined, undefined]);
});

test('broken YAML is the one fatal problem of the file, and of .env too', () => {
  const loaded = evaluateSample('http: [\n', { envFile: 'BROKEN\nALSO="' });
  assert.ok(!loaded.ok);
  assert.deepEqual(loaded.problems.map(({ file, code }) => [file, code]), [['.env', 'syntax'], ['.env', 'syntax'], ['config.yaml', 'syntax']]);
});

test('names of the language mean nothing special', () => {
  for (const text of ['constructor: {}\n', 'http: { __proto__: { port: 1 } }\n', 'platforms: { constructor: {} }\n', 'platforms: { __proto__: {} }\n']) {
    assert.equal(complaints(evaluateSample(text)).length, 1, text);
  }
  assert.equal(validSample('agents: { __proto__: { model: x } }\n').ok, true);
});

