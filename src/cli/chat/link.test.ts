import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../lib/clock.ts';
import { aMoment, eventually, never } from '../../platforms/conformance-bench.ts';
import { outbound, serve, withFolder } from '../../platforms/local/local.test-support.ts';
import type { ServerFrame } from '../../platforms/local/client.ts';
import { Link } from './link.ts';
import type { LinkState } from './link.ts';

const openLink = (path: string) => {
  const frames: ServerFrame[] = [];
  const states: LinkState['type'][] = [];
  let cursor: number | undefined;
  const link = new Link({
    chat: 'chat-one',
    clock: systemClock,
    path: async () => path,
    cursor: () => cursor,
    onFrame: (frame) => {
      frames.push(frame);
      if (frame.type === 'entry') cursor = frame.seq;
    },
    onState: (state) => states.push(state.type),
  });
  const running = link.run();
  const texts = (): readonly string[] => frames.flatMap((frame) => (frame.type === 'entry' && 'text' in frame.entry ? [frame.entry.text] : []));
  return {
    link,
    states,
    texts,
    async [Symbol.asyncDispose]() {
      link.close();
      await running;
    },
  };
};

test('what is said before, between and after gateways arrives once and in order, and so does what they say', () =>
  withFolder(async (folder) => {
    await using end = openLink(`${folder}/gateway.sock`);
    end.link.say('before');
    {
      await using first = await serve(folder);
      await eventually(() => first.inbox.events.length === 1, 'the first message arrived');
      await first.adapter.send(outbound('k1', 'answer'), never);
      await eventually(() => end.texts().includes('answer'), 'the answer was told');
    }
    assert.equal(end.link.unsent, 0);
    end.link.say('between 1');
    end.link.say('between 2');
    assert.equal(end.link.unsent, 2);
    await using second = await serve(folder);
    await eventually(() => end.link.unsent === 0, 'everything was accepted');
    end.link.say('after');
    await eventually(() => second.inbox.events.length === 3, 'the rest arrived');
    assert.deepEqual(second.inbox.events.map(({ text }) => text), ['between 1', 'between 2', 'after']);
    await eventually(() => end.texts().includes('after'), 'the last one was told');
    assert.deepEqual(end.texts(), ['before', 'answer', 'between 1', 'between 2', 'after']);
    assert.deepEqual([end.states[0], end.states.filter((state) => state === 'connected').length], ['connecting', 2]);
  }));

test('a message whose acceptance was lost is sent again under its id, and is no second message', () =>
  withFolder(async (folder) => {
    await using end = openLink(`${folder}/gateway.sock`);
    const stored = Promise.withResolvers<void>();
    const seen: string[] = [];
    {
      await using first = await serve(folder);
      first.inbox.before = async (event) => {
        seen.push(event.nativeId);
        await stored.promise;
      };
      end.link.say('did it arrive?');
      await eventually(() => seen.length === 1, 'it arrived');
    }
    assert.equal(end.link.unsent, 1);
    await using second = await serve(folder);
    await eventually(() => end.link.unsent === 0, 'it was accepted');
    stored.resolve();
    assert.deepEqual(second.inbox.events.map(({ nativeId }) => nativeId), seen);
    assert.deepEqual(end.texts(), ['did it arrive?']);
  }));

test('what could not be stored is tried again after a while', () =>
  withFolder(async (folder) => {
    await using gateway = await serve(folder);
    await using end = openLink(gateway.path);
    let failures = 1;
    gateway.inbox.before = async () => {
      if ((failures -= 1) >= 0) throw new Error('the disk is full');
    };
    end.link.say('keep me');
    await eventually(() => end.link.unsent === 0, 'it was accepted');
    assert.deepEqual(gateway.inbox.events.map(({ text }) => text), ['keep me']);
  }));

test('what was said last leaves before the line is closed', () =>
  withFolder(async (folder) => {
    await using gateway = await serve(folder);
    const end = openLink(gateway.path);
    await eventually(() => end.states.includes('connected'), 'it is connected');
    end.link.say('goodbye');
    await end[Symbol.asyncDispose]();
    await eventually(() => gateway.inbox.events.length === 1, 'it arrived');
    await aMoment();
    assert.equal(end.states.at(-1), 'connected');
  }));
