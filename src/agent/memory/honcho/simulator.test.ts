import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AuthenticationError, Honcho, NotFoundError, UnprocessableEntityError } from '@honcho-ai/sdk';
import { newHonchoSimulator } from './simulator.ts';

test('Honcho’s own SDK finds a Honcho server in the simulator', async () => {
  await using simulator = await newHonchoSimulator({ apiKey: 'key-of-the-test' });
  const honcho = new Honcho({ baseURL: simulator.url, apiKey: 'key-of-the-test', workspaceId: 'hermes', maxRetries: 0 });
  const ada = await honcho.peer('user-telegram-7');
  const agent = await honcho.peer('agent-main');
  const session = await honcho.session('20260101_120000_abcdef12', { metadata: { platform: 'telegram' } });
  const made = await session.addMessages([ada.message('I moved to Paris', { metadata: { hermes_key: 'turn:1' }, createdAt: '2026-01-01T12:00:00.000Z' }), agent.message('How nice')]);
  assert.deepEqual(made.map((message) => [message.peerId, message.content, message.createdAt.slice(0, 4).length]), [['user-telegram-7', 'I moved to Paris', 4], ['agent-main', 'How nice', 4]]);

  const listed = await session.messages({ filters: { metadata: { hermes_key: 'turn:1' } } });
  assert.deepEqual([listed.total, listed.items.map((message) => message.content)], [1, ['I moved to Paris']]);
  assert.deepEqual((await session.search('paris')).map((message) => message.content), ['I moved to Paris']);

  await ada.conclusions.create([{ content: 'Ada lives in Paris', sessionId: session.id }]);
  assert.deepEqual((await ada.conclusions.query('Paris')).map((conclusion) => conclusion.content), ['Ada lives in Paris']);
  await ada.setCard(['Name: Ada']);
  assert.deepEqual(await ada.getCard(), ['Name: Ada']);
  const context = await ada.context({ searchQuery: 'Paris' });
  assert.deepEqual([context.representation, context.peerCard], ['Ada lives in Paris', ['Name: Ada']]);
  assert.equal(await ada.chat('Where in Paris?'), 'Ada lives in Paris');
  assert.equal(await ada.chat('shoe size'), null);
  const inSession = await session.context({ peerTarget: ada.id, limitToSession: true, summary: true });
  assert.equal(inSession.peerRepresentation, 'Ada lives in Paris');
  await session.setMetadata({ ended: 'yes' });
  assert.deepEqual(simulator.workspace('hermes')?.sessions.get(session.id)?.metadata, { ended: 'yes' });
});

test('it refuses what a Honcho server refuses', async () => {
  await using simulator = await newHonchoSimulator({ apiKey: 'key-of-the-test' });
  const stranger = new Honcho({ baseURL: simulator.url, apiKey: 'wrong', workspaceId: 'hermes', maxRetries: 0 });
  await assert.rejects(stranger.peer('a'), AuthenticationError);
  const honcho = new Honcho({ baseURL: simulator.url, apiKey: 'key-of-the-test', workspaceId: 'hermes', maxRetries: 0 });
  const peer = await honcho.peer('a');
  const session = await honcho.session('s');
  await assert.rejects(session.addMessages(peer.message('x'.repeat(25_001))), UnprocessableEntityError);
  await assert.rejects(honcho.http.post('/v3/workspaces/hermes/sessions/missing/messages', { body: { messages: [{ peer_id: 'a', content: 'x' }] } }), NotFoundError);
  await assert.rejects(honcho.http.get('/v3/workspaces/unknown/peers/a/card'), NotFoundError);
});
