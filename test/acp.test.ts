import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { calls, says } from '../src/agent/models/chat-simulator.ts';
import { openEditor } from './support/editor.ts';
import type { Editor } from './support/editor.ts';
import { streamedAnswer } from './support/scenes.ts';
import { lastUserText, newWorld, startOutside, until } from './support/whole.ts';

const text = (words: string) => [{ type: 'text' as const, text: words }];

const begin = async (editor: Editor): Promise<string> => (await editor.agent.request('session/new', { cwd: '/work/project', mcpServers: [] })).sessionId;

const ask = (editor: Editor, sessionId: string, words: string) => editor.agent.request('session/prompt', { sessionId, prompt: text(words) });

describe('hermes acp', { concurrency: 2 }, () => {
  test('answers an editor, tells it about the project folder once, and hosts the gateway itself when none runs', async () => {
    await using world = await newWorld();
    await using editor = await openEditor(world);
    const sessionId = await begin(editor);
    assert.deepEqual(await ask(editor, sessionId, 'hello there'), { stopReason: 'end_turn' });
    assert.match(editor.said(sessionId), /project folder is \/work\/project\]\nhello there$/);
    await ask(editor, sessionId, 'again');
    assert.equal(lastUserText(world.model.requests.at(-1)?.body ?? { messages: [] }), 'again');
    const commands = editor.updates.find(({ update }) => update.sessionUpdate === 'available_commands_update')?.update;
    assert.ok(commands?.sessionUpdate === 'available_commands_update' && commands.availableCommands.some(({ name }) => name === 'new'));
    assert.deepEqual(await editor.leave(), { code: 0, err: '' });
  });

  test('goes to the gateway that runs, in several conversations, and takes commands', async () => {
    await using world = await newWorld();
    await using _gateway = await startOutside(world);
    await using editor = await openEditor(world);
    const [one, two] = [await begin(editor), await begin(editor)];
    await Promise.all([ask(editor, one, 'first'), ask(editor, two, 'second')]);
    assert.match(editor.said(one), /first$/);
    assert.match(editor.said(two), /second$/);
    assert.deepEqual(await ask(editor, one, '/version'), { stopReason: 'end_turn' });
    assert.match(editor.said(one), /Hermes gateway/);
  });

  test('shows the answer while it grows and tools while they work', async () => {
    await using world = await newWorld({ display: { streaming: true } });
    await using editor = await openEditor(world);
    const sessionId = await begin(editor);
    const growing = streamedAnswer();
    world.model.next(calls({ id: 'c1', name: 'current_time', arguments: '{}' }), growing.answer);
    const answered = ask(editor, sessionId, 'what time is it?');
    await until(growing.begun, 'the model to be asked');
    growing.write('The first part of it');
    await until(() => editor.said(sessionId).includes('The first part'), 'the answer to grow');
    growing.write(' and the rest.');
    growing.end();
    await answered;
    assert.match(editor.said(sessionId), /The first part of it and the rest\.$/);
    const tools = editor.updates.flatMap(({ update }) => (update.sessionUpdate === 'tool_call' || update.sessionUpdate === 'tool_call_update' ? [`${update.toolCallId} ${update.status ?? ''}`] : []));
    assert.deepEqual(tools, ['c1 in_progress', 'c1 completed']);
  });

  test('a cancel stops the turn, and the conversation goes on', async () => {
    await using world = await newWorld({ display: { streaming: true } });
    await using editor = await openEditor(world);
    const sessionId = await begin(editor);
    const growing = streamedAnswer();
    world.model.next(growing.answer);
    const answered = ask(editor, sessionId, 'think');
    await until(growing.begun, 'the model to be asked');
    growing.write('Well, let me think');
    await until(() => editor.said(sessionId).includes('let me think'), 'the answer to grow');
    await editor.agent.notify('session/cancel', { sessionId });
    assert.deepEqual(await answered, { stopReason: 'cancelled' });
    assert.deepEqual(await ask(editor, sessionId, 'and now?'), { stopReason: 'end_turn' });
  });

  test('a loaded session is told again from the start, a resumed one is not, and an unknown one is refused', async () => {
    await using world = await newWorld();
    const first = await openEditor(world);
    const sessionId = await begin(first);
    await ask(first, sessionId, 'remember the milk');
    await first.leave();
    await using editor = await openEditor(world);
    await editor.agent.request('session/load', { sessionId, cwd: '/work/project', mcpServers: [] });
    assert.match(editor.said(sessionId, 'user_message_chunk'), /remember the milk$/);
    assert.match(editor.said(sessionId), /re: .*remember the milk$/s);
    const before = editor.updates.length;
    await editor.agent.request('session/resume', { sessionId, cwd: '/work/project', mcpServers: [] });
    await ask(editor, sessionId, 'what was it?');
    assert.ok(editor.updates.slice(before).every(({ update }) => update.sessionUpdate !== 'user_message_chunk'));
    assert.match(JSON.stringify(world.model.requests.at(-1)?.body.messages), /remember the milk/);
    await assert.rejects(editor.agent.request('session/load', { sessionId: 'acp-nothing', cwd: '/', mcpServers: [] }), { code: -32_002 });
  });

  test('images and files reach the model', async () => {
    await using world = await newWorld();
    await using editor = await openEditor(world);
    const sessionId = await begin(editor);
    const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';
    world.model.next(says('A dot.'));
    await editor.agent.request('session/prompt', {
      sessionId,
      prompt: [...text('look'), { type: 'image', mimeType: 'image/png', data: png }, { type: 'resource', resource: { uri: 'file:///work/project/a.ts', text: 'let a = 1' } }, { type: 'resource_link', name: 'b.ts', uri: 'file:///work/project/b.ts' }],
    });
    const sent = JSON.stringify(world.model.requests.at(-1)?.body.messages);
    assert.ok(sent.includes(png), 'the image');
    assert.match(sent, /\[\/work\/project\/a\.ts\]\\n```\\nlet a = 1\\n```\\n\[b\.ts: \/work\/project\/b\.ts\]/);
  });

  test('an approval is asked by the editor, and its answer is obeyed', async () => {
    await using world = await newWorld();
    await using editor = await openEditor(world);
    const sessionId = await begin(editor);
    const remove = calls({ id: 'c1', name: 'terminal', arguments: JSON.stringify({ command: 'rm -rf ./nothing-here' }) });
    for (const kind of ['reject_once', 'allow_once'] as const) {
      editor.answer(async ({ options }) => ({ outcome: { outcome: 'selected', optionId: options.find((option) => option.kind === kind)?.optionId ?? assert.fail('no such option') } }));
      world.model.next(remove, says('Done.'));
      assert.deepEqual(await ask(editor, sessionId, 'clean up'), { stopReason: 'end_turn' });
      const result = JSON.stringify(world.model.requests.at(-1)?.body.messages.findLast(({ role }) => role === 'tool'));
      assert.equal(/The person said no/.test(result), kind === 'reject_once', result);
    }
    assert.equal(editor.asked.length, 2);
    assert.equal(editor.said(sessionId), 'Done.Done.', 'a question is not said in words as well');
    assert.match(JSON.stringify(editor.asked[0]?.toolCall.content), /rm -rf \.\/nothing-here/);
    assert.deepEqual(editor.asked[0]?.options.map(({ kind }) => kind), ['allow_once', 'allow_always', 'allow_always', 'reject_once']);
  });

  test('a question that wants words ends the prompt, and the next prompt is its answer', async () => {
    await using world = await newWorld();
    await using editor = await openEditor(world);
    const sessionId = await begin(editor);
    world.model.next(calls({ id: 'c1', name: 'clarify', arguments: JSON.stringify({ question: 'Which city?' }) }), says('Rome it is.'));
    assert.deepEqual(await ask(editor, sessionId, 'plan a trip'), { stopReason: 'end_turn' });
    assert.match(editor.said(sessionId), /Which city\?/);
    assert.deepEqual(await ask(editor, sessionId, 'Rome'), { stopReason: 'end_turn' });
    assert.match(editor.said(sessionId), /Rome it is\.$/);
    assert.match(JSON.stringify(world.model.requests.at(-1)?.body.messages.findLast(({ role }) => role === 'tool')), /Rome/);
  });
});
