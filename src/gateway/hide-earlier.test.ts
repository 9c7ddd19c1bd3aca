import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sampleEvent } from '../../test/support/samples.ts';
import type { EarlierMessage, Sender } from '../core/message.ts';
import { hideEarlier } from './hide-earlier.ts';

const person = (id: string, isBot = false): Sender => ({ id, isBot });
const said = (text: string, sender?: EarlierMessage['sender']): EarlierMessage => ({ author: 'x', text, ...(sender !== undefined && { sender }) });
const earlier = [said('a', person('1')), said('b', person('2')), said('c', 'self'), said('d'), said('e', person('2')), said('f', person('1', true))];
const event = sampleEvent({ earlier });

test('words of people who may not speak here are taken out and counted, each person judged once', async () => {
  const asked: Sender[] = [];
  const { event: shown, decisions } = await hideEarlier(event, { thread_context: 'allowed' }, (sender) => {
    asked.push(sender);
    return Promise.resolve(sender.id === '1' && !sender.isBot);
  });
  assert.deepEqual([shown.earlier?.map(({ text }) => text), shown.earlierHidden], [['a', 'c'], 4]);
  assert.deepEqual(asked, [person('1'), person('2'), person('1', true)]);
  assert.deepEqual(decisions.map(({ verdict }) => verdict), ['2 shown, 4 of people who may not speak here hidden']);
});

test('everything is shown where the owner says so, or where everybody may speak', async () => {
  assert.equal((await hideEarlier(event, { thread_context: 'everyone' }, () => Promise.resolve(false))).event, event);
  const allowed = sampleEvent({ earlier: [said('a', person('1'))] });
  assert.equal((await hideEarlier(allowed, { thread_context: 'allowed' }, () => Promise.resolve(true))).event, allowed);
});

test('an event that brings nothing from before leaves no trace of it', async () => {
  assert.deepEqual((await hideEarlier(sampleEvent({}), { thread_context: 'allowed' }, () => Promise.resolve(false))).decisions, []);
});
