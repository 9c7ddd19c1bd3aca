import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressOf } from '../../agent/models/endpoints/create-provider.ts';
import { evaluate } from '../../config/evaluate.ts';
import { gatewaySections } from '../settings.ts';
import { settingsOfAgent } from './settings-of-agent.ts';

const settings = (config: Readonly<Record<string, unknown>>) => {
  const loaded = evaluate({ env: {}, sections: gatewaySections, platforms: [] }, { config: JSON.stringify(config), env: undefined }).config;
  return loaded.ok ? loaded.sections : assert.fail(JSON.stringify(loaded.problems));
};

const general = { provider: 'openai', default: 'general', base_url: 'https://general.example/v1', api_key: 'general-key', api_keys: ['second-key'], endpoints: { openai: { api_key: 'usual-openai' }, anthropic: { api_key: 'usual-anthropic' } } };

/** Where an agent with these settings asks, with which keys and for what. */
const asks = (agent: Readonly<Record<string, unknown>>, variables: Readonly<Record<string, string>> = {}): string => {
  const { model } = settingsOfAgent(settings({ model: general, agents: { a: agent } }), 'a', (name) => variables[name]);
  if (model.provider === 'demo') return 'demo';
  const { baseUrl, keys } = addressOf({ ...model, provider: model.provider }, model.endpoints);
  return `${model.default} at ${baseUrl} with ${keys.join('+') || 'nothing'}`;
};

test('an agent that says nothing about its model has the general one', () => {
  assert.equal(asks({}), 'general at https://general.example/v1 with general-key+second-key');
  assert.equal(asks({ model: 'own' }), 'own at https://general.example/v1 with general-key+second-key');
  assert.equal(asks({ provider: 'openai', model: 'own' }), 'own at https://general.example/v1 with general-key+second-key', 'the same provider is the same endpoint');
});

test('its own key takes the place of all others, and is not replaced when it is missing', () => {
  assert.equal(asks({ api_key_env: 'KEY' }, { KEY: 'own-key' }), 'general at https://general.example/v1 with own-key');
  assert.equal(asks({ api_key_env: 'KEY' }), 'general at https://general.example/v1 with nothing');
  assert.equal(asks({ provider: 'anthropic', model: 'm', api_key_env: 'KEY' }), 'm at https://api.anthropic.com/v1 with nothing');
});

test('another endpoint never gets a key that was given for the general one', () => {
  assert.equal(asks({ base_url: 'https://other.example/v1' }), 'general at https://other.example/v1 with nothing');
  assert.equal(asks({ base_url: 'https://other.example/v1', api_key_env: 'KEY' }, { KEY: 'own-key' }), 'general at https://other.example/v1 with own-key');
  assert.equal(asks({ provider: 'custom', model: 'm', base_url: 'https://other.example/v1' }), 'm at https://other.example/v1 with nothing');
});

test('a well-known provider at its usual place has the usual key', () => {
  assert.equal(asks({ provider: 'anthropic', model: 'm' }), 'm at https://api.anthropic.com/v1 with usual-anthropic');
  assert.equal(asks({ provider: 'demo' }), 'demo');
});

test('toolsets of an agent are put beside those of the others', () => {
  const all = settings({ agents: { a: { enabled_toolsets: ['web'], disabled_toolsets: ['file'] }, b: {} }, tools: { agents: { b: { toolsets: ['time'] } } } });
  assert.deepEqual(settingsOfAgent(all, 'a', () => undefined).tools.agents, { b: { toolsets: ['time'], disabled_toolsets: [] }, a: { toolsets: ['web'], disabled_toolsets: ['file'] } });
  assert.equal(settingsOfAgent(all, 'main', () => undefined), all);
});
