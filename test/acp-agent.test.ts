import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { newWorld, startInside, startOutside, until } from './support/whole.ts';
import type { World } from './support/whole.ts';

const script = fileURLToPath(new URL('../src/agent/acp/scripted-agent.test-support.ts', import.meta.url));

const withAgent = (abilities = 'load'): Readonly<Record<string, unknown>> => ({ agent: { kind: 'acp', command: [process.execPath, script], env: { ABILITIES: abilities } }, display: { streaming: true } });

const prompts = (world: World): readonly string[] =>
  readFileSync(join(world.home, 'workspace', 'told.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .flatMap((line) => (JSON.parse(line) as { prompt?: readonly { text?: string }[] }).prompt ?? [])
    .map(({ text }) => text ?? '');

const shows = (world: World, text: string) => until(() => world.shown().some((each) => each.includes(text)), `“${text}” in the chat`);

const openQuestion = async (world: World) => {
  const find = () => world.telegram.visible('7').find(({ choices }) => choices.length > 0);
  await until(() => find() !== undefined, 'a question with buttons');
  return find() ?? assert.fail('no question');
};

describe('another program behind a platform', { concurrency: 2 }, () => {
  test('answers in Telegram, is asked about by button, and remembers across a restart', async () => {
    await using world = await newWorld(withAgent());
    {
      await using _gateway = await startInside(world);
      await world.say('echo hello from elsewhere');
      await shows(world, 'hello from elsewhere');
      await world.say('ask rm -rf ./build');
      await shows(world, 'rm -rf ./build');
      const question = await openQuestion(world);
      await world.telegram.press('7', question.id, question.choices.find(({ label }) => label === 'Allow once')?.data ?? '', '7');
      await shows(world, 'It was o.');
    }
    await using _gateway = await startInside(world);
    await world.say('echo once more');
    await shows(world, 'once more');
    assert.deepEqual(prompts(world), ['echo hello from elsewhere', 'ask rm -rf ./build', 'echo once more']);
    assert.equal(world.model.requests.length, 0);
  });

  test('a kill in the middle does not hand the request over blindly again', async () => {
    await using world = await newWorld(withAgent());
    const first = await startOutside(world);
    await world.say('wait');
    await shows(world, 'So far.');
    await first.kill();
    await using _second = await startOutside(world);
    await until(() => prompts(world).length > 1, 'the request to be told again');
    assert.match(prompts(world)[1] ?? '', /^\[The gateway was restarted while you were working/);
    await world.say('/stop');
  });

  test('a kill with an agent that remembers nothing is reported to the person', async () => {
    await using world = await newWorld(withAgent(''));
    const first = await startOutside(world);
    await world.say('wait');
    await shows(world, 'So far.');
    await first.kill();
    await using _second = await startOutside(world);
    await shows(world, 'I was interrupted by a restart in the middle of this');
    assert.deepEqual(prompts(world), ['wait']);
    await world.say('echo go on');
    await shows(world, 'go on');
  });
});
