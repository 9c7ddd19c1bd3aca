import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { Question } from '../../core/question.ts';
import type { TurnEvent } from '../../core/turn.ts';
import { noUsage } from '../../core/transcript.ts';
import type { AskPerson, TurnAbort } from '../contract.ts';
import { hello } from '../turn.test-support.ts';
import { asking, assistant, deadlineClock, impatientClock, newBench, run, user } from './acp-agent.test-support.ts';

const stop = (kind: TurnAbort['kind']): { controller: AbortController; abort(): void } => {
  const controller = new AbortController();
  return { controller, abort: () => controller.abort({ kind } satisfies TurnAbort) };
};

describe('an agent that is another program', { concurrency: 2 }, () => {
  test('answers, with its text as it grows, its usage, and one row at the end', async () => {
    await using bench = await newBench();
    const { events, messages, end } = await run(bench.agent(), asking('echo hello'));
    assert.deepEqual(events.map(({ type }) => type), ['text', 'message', 'usage', 'end']);
    assert.deepEqual(messages, [{ role: 'assistant', content: 'hello', finishReason: 'stop' }]);
    assert.deepEqual(events.find(({ type }) => type === 'usage'), { type: 'usage', model: 'scripted', usage: { ...noUsage, inputTokens: 10, outputTokens: 5, cost: { usd: 0.25, status: 'actual' } } });
    assert.deepEqual(end, { type: 'end', reason: 'completed' });
    assert.ok(bench.logLines.some((line) => line.includes('acp.stderr') && line.includes('"level":"debug"')));
  });

  test('shows its tools while they work, and leaves rows as our own agent would', async () => {
    await using bench = await newBench();
    const { events, messages } = await run(bench.agent(), asking('tool'));
    const shown = events.filter(({ type }) => type === 'tool_started' || type === 'tool_finished').map((event) => ({ ...event, durationMs: undefined }));
    assert.deepEqual(shown, [
      { type: 'tool_started', callId: 'c1', name: 'read', preview: 'Read a.txt', durationMs: undefined },
      { type: 'tool_finished', callId: 'c1', name: 'read', ok: true, durationMs: undefined },
    ]);
    assert.deepEqual(messages, [
      { role: 'assistant', content: 'Let me look. ', toolCalls: [{ id: 'c1', name: 'read', arguments: '{"path":"a.txt"}' }], finishReason: 'tool_calls', reasoning: 'Hm.' },
      { role: 'tool', content: 'contents of a', toolCallId: 'c1', toolName: 'read' },
      { role: 'assistant', content: 'It says a.', finishReason: 'stop' },
    ]);
  });

  test('is told only what is new, in the same session, by the same process', async () => {
    await using bench = await newBench();
    const agent = bench.agent();
    await run(agent, asking('echo one', { turnId: '1' }));
    await run(agent, { turnId: '2', transcript: [user('echo one'), assistant('one'), user('two'), user('echo three')] });
    await run(agent, asking('echo other', { sessionId: 'another', turnId: '3' }));
    assert.deepEqual(bench.told().map(({ session, event }) => `${session} ${event ?? ''}`), ['s1 new', 's1 ', 's1 ', 's2 new', 's2 ']);
    assert.deepEqual(bench.prompts(), ['echo one', 'two\necho three', 'echo other']);
  });

  test('takes its session up again after a restart of the gateway', async () => {
    for (const abilities of ['load', 'resume']) {
      await using bench = await newBench();
      await using first = bench.agent({ abilities });
      await run(first, asking('echo one', { turnId: '1' }));
      await first[Symbol.asyncDispose]();
      const { text } = await run(bench.agent({ abilities }), { turnId: '2', transcript: [user('echo one'), assistant('one'), user('echo two')] });
      assert.equal(text, 'two', 'what it replays is not the answer');
      assert.deepEqual(bench.told().map(({ event }) => event), ['new', undefined, 'taken up', undefined]);
      assert.equal(bench.prompts().at(-1), 'echo two');
    }
  });

  test('that forgets, or never had the conversation, is told what was said', async () => {
    await using bench = await newBench();
    const first = bench.agent();
    await run(first, asking('echo one', { turnId: '1' }));
    await first[Symbol.asyncDispose]();
    const long = assistant(`${'x'.repeat(30_000)}`);
    await run(bench.agent(), { turnId: '2', transcript: [user('left out'), long, long, long, long, long, long, user('echo one'), assistant('one'), user('echo two')] });
    const prompt = bench.prompts().at(-1) ?? '';
    assert.match(prompt, /User: echo one\n\nYou: one\n\n\[End of what was said before\. Now answer this:\]\necho two$/);
    assert.doesNotMatch(prompt, /left out/);
    assert.ok(prompt.length < 30_000);
  });

  test('is told anew when the conversation was changed behind its back', async () => {
    await using bench = await newBench();
    const agent = bench.agent({ abilities: 'load' });
    await run(agent, asking('echo one', { turnId: '1' }));
    await run(agent, { turnId: '2', transcript: [user('echo one'), assistant('one'), user('echo two')] });
    // After /undo of the second exchange, in the same words.
    await run(agent, { turnId: '3', transcript: [user('echo one'), assistant('one'), user('echo two')] });
    assert.deepEqual(bench.told().filter(({ event }) => event === 'new').length, 2);
    assert.match(bench.prompts().at(-1) ?? '', /^\[This conversation began before/);
  });

  test('a request that was under way when the gateway died is not handed over blindly again', async () => {
    await using bench = await newBench();
    const first = bench.agent({ abilities: 'load' });
    const { controller, abort } = stop('suspended');
    const ended = await run(first, asking('wait', { turnId: '1' }), { signal: controller.signal, onEvent: ({ type }) => type === 'text' && abort() });
    assert.deepEqual([ended.end.reason, ended.messages], ['suspended', []]);
    await first[Symbol.asyncDispose]();
    const forgetful = await run(bench.agent(), asking('wait', { turnId: '1' }));
    assert.deepEqual([forgetful.end.reason, forgetful.end.error?.code], ['model_error', 'interrupted']);
    assert.equal(bench.prompts().length, 1);
    const { text } = await run(bench.agent({ abilities: 'load' }), { turnId: '1', transcript: [user('echo it is done')] });
    assert.match(bench.prompts().at(-1) ?? '', /^\[The gateway was restarted while you were working on this request/);
    assert.equal(text, 'it is done');
  });

  test('files come as images where it sees them, and as links otherwise', async () => {
    await using bench = await newBench();
    await writeFile(join(bench.home, 'media', 'a.png'), Buffer.from('\u0089PNG', 'latin1'));
    const attachments = [{ kind: 'photo', mime: 'image/png', name: 'a.png', path: 'a.png' }, { kind: 'document', mime: 'text/plain', name: 'b.txt', path: 'b.txt' }] as const;
    const row = { role: 'user', content: 'blocks', attachments } as const;
    assert.equal((await run(bench.agent({ abilities: 'image' }), { transcript: [row] })).text, 'text,image,resource_link');
    assert.equal((await run(bench.agent(), { sessionId: 'x', transcript: [row] })).text, 'text,resource_link,resource_link');
  });

  test('gets harmless variables and its own, and nothing else of ours', async () => {
    await using bench = await newBench();
    const { text } = await run(bench.agent({ options: { env: { ABILITIES: '', MY_KEY: 'k' } } }), asking('environment'));
    assert.deepEqual(text.split(',').filter((name) => !name.startsWith('__')), ['ABILITIES', 'MY_KEY', 'PATH']);
  });
});

describe('what it may do', { concurrency: 2 }, () => {
  const answers = (value: string | undefined, asked: Question[] = []): AskPerson => async (question) => {
    asked.push(question);
    const option = question.options.find((each) => each.value.startsWith(value ?? '-'));
    return option === undefined ? { type: 'expired' } : { type: 'answered', value: option.value, by: '7' };
  };

  test('is asked of a person, who sees exactly what it is, and the answer is the agent’s own option', async () => {
    await using bench = await newBench();
    const agent = bench.agent();
    const asked: Question[] = [];
    for (const [value, choice] of [['once', 'o'], ['always', 'a'], ['deny', 'r'], [undefined, 'r']] as const) {
      const { text } = await run(agent, asking('ask rm -rf ./build', { turnId: String(value), sessionId: String(value), ask: answers(value, asked) }));
      assert.equal(text, `It was ${choice}.`);
    }
    assert.match(asked[0]?.text ?? '', /May I do this\?\*\* \(scripted\)\n\n```\nrm -rf \.\/build\n```/);
    assert.deepEqual(asked[0]?.options.map(({ label, words }) => [label, words?.[0]]), [['Allow once', 'yes'], ['Always', 'always'], ['Reject', 'no']]);
    assert.deepEqual([asked[0]?.answerer, asked[0]?.timeoutMs], ['approver', 60_000]);
  });

  test('is refused where nobody can be asked, and allowed once where approvals are off', async () => {
    await using bench = await newBench();
    assert.equal((await run(bench.agent(), asking('ask x'))).text, 'It was r.');
    const open = bench.agent({ approvesAll: async (sessionId) => sessionId === 's2' });
    assert.equal((await run(open, asking('ask x', { sessionId: 's2', ask: () => assert.fail('nobody is to be asked') }))).text, 'It was o.');
  });

  test('an answer belongs to exactly what was asked', async () => {
    await using bench = await newBench();
    const agent = bench.agent();
    const callIds: string[] = [];
    const ask: AskPerson = async (_question, { callId }) => {
      callIds.push(callId);
      return { type: 'expired' };
    };
    await run(agent, asking('ask one', { turnId: '1', sessionId: '1', ask }));
    await run(agent, asking('ask two', { turnId: '2', sessionId: '2', ask }));
    await run(agent, asking('ask one', { turnId: '3', sessionId: '3', ask }));
    assert.equal(callIds[0], callIds[2]);
    assert.notEqual(callIds[0], callIds[1]);
  });

  test('a question does not run into the activity deadline, and is withdrawn with the turn', async () => {
    await using bench = await newBench();
    const { clock, manual } = deadlineClock();
    const { controller, abort } = stop('stopped');
    const ask: AskPerson = (_question, _from, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason), { once: true });
        void manual.advance(40_000).then(abort);
      });
    const { end } = await run(bench.agent({ clock }), asking('ask x', { ask, limits: { activityMs: 20_000, totalMs: 200_000 } }), { signal: controller.signal });
    assert.deepEqual(end, { type: 'end', reason: 'stopped' });
  });

  test('files are not offered by default, and otherwise only inside its folder', async () => {
    await using bench = await newBench();
    await writeFile(join(bench.folder, 'in.txt'), 'one\ntwo');
    await writeFile(join(bench.home, 'config.yaml'), 'secret');
    const say = async (mode: 'none' | 'read' | 'write', words: string): Promise<string> => (await run(bench.agent({ options: { files: mode } }), asking(words, { sessionId: words + mode }))).text;
    assert.match(await say('none', `read ${bench.folder}/in.txt`), /Method not found/);
    assert.equal(await say('read', `read ${bench.folder}/in.txt`), 'one\ntwo');
    assert.match(await say('read', `write ${bench.folder}/out.txt`), /Method not found/);
    assert.equal(await say('write', `write ${bench.folder}/out.txt`), 'ok');
    assert.equal(await say('write', `read ${bench.folder}/out.txt`), 'written');
    for (const path of [`${bench.home}/config.yaml`, `${bench.folder}/../home/config.yaml`, 'in.txt', `${bench.folder}/.env`]) assert.match(await say('write', `read ${path}`), /^Invalid params/, path);
  });
});

describe('a turn that has a folder of its own', () => {
  test('is worked on there, and files are offered from there alone', async () => {
    await using bench = await newBench();
    const agent = bench.agent({ options: { files: 'read' } });
    const elsewhere = join(bench.folder, '..', 'elsewhere');
    await mkdir(elsewhere);
    await writeFile(join(elsewhere, 'in.txt'), 'from elsewhere');
    await writeFile(join(bench.folder, 'in.txt'), 'from its own');
    const say = async (words: string, workdir?: string): Promise<string> => (await run(agent, asking(words, { sessionId: `${words} ${workdir}`, place: { ...hello.place, ...(workdir !== undefined && { workdir }) } }))).text;
    assert.deepEqual([await say('folder'), await say('folder', elsewhere)], [bench.folder, elsewhere]);
    assert.equal(await say(`read ${elsewhere}/in.txt`, elsewhere), 'from elsewhere');
    assert.match(await say(`read ${bench.folder}/in.txt`, elsewhere), /^Invalid params/);
    assert.match(await say(`read ${elsewhere}/in.txt`), /^Invalid params/);
  });
});

describe('when it goes wrong', { concurrency: 2 }, () => {
  test('a stop reaches the agent, keeps what was said, and the session goes on', async () => {
    await using bench = await newBench();
    const agent = bench.agent();
    const { controller, abort } = stop('stopped');
    const { end, messages } = await run(agent, asking('wait', { turnId: '1' }), { signal: controller.signal, onEvent: ({ type }) => type === 'text' && abort() });
    assert.deepEqual([end.reason, messages], ['stopped', [{ role: 'assistant', content: 'So far.', finishReason: 'interrupted' }]]);
    const next = await run(agent, { turnId: '2', transcript: [user('wait'), user('echo on')] });
    assert.equal(next.text, 'on');
    assert.deepEqual(bench.told().map(({ event }) => event), ['new', undefined, 'cancel', undefined]);
    assert.equal(bench.prompts().at(-1), 'echo on', 'what it was told before is not told again');
  });

  test('an agent that ignores a stop loses the session, and its process when nobody else needs it', async () => {
    await using bench = await newBench();
    const agent = bench.agent({ abilities: 'stubborn,load', clock: impatientClock });
    const { controller, abort } = stop('interrupted');
    await run(agent, asking('wait', { turnId: '1' }), { signal: controller.signal, onEvent: ({ type }) => type === 'text' && abort() });
    const next = await run(agent, { turnId: '2', transcript: [user('wait'), user('echo on')] });
    assert.equal(next.text, 'on');
    assert.deepEqual(bench.told().flatMap(({ session, prompt }) => (prompt === undefined ? [] : [session])), ['s1', 's2']);
    assert.ok(bench.logLines.some((line) => line.includes('acp.cancel_ignored')));
  });

  test('a crash ends the turn with a clear sentence and what was said, and the next turn has a new process', async () => {
    await using bench = await newBench();
    const agent = bench.agent({ abilities: 'load' });
    const { end, messages } = await run(agent, asking('crash', { turnId: '1' }));
    assert.deepEqual([end.reason, end.error?.code, messages[0]?.content], ['model_error', 'agent_crashed', 'Half an ans']);
    assert.match(end.error?.sentence ?? '', /ended in the middle of its work\. It is started again for your next message\. The answer above is incomplete\.$/);
    const next = await run(agent, { turnId: '2', transcript: [user('crash'), assistant('Half an ans'), user('echo back')] });
    assert.deepEqual([next.events[0]?.type, next.text], ['retrying', 'back']);
    assert.deepEqual(bench.told().map(({ event }) => event), ['new', undefined, 'taken up', undefined]);
  });

  test('a silent agent runs into the activity deadline, an endless turn into the other', async () => {
    await using bench = await newBench();
    const { clock, manual } = deadlineClock();
    const agent = bench.agent({ clock });
    const later = (ms: number) => ({ onEvent: (event: TurnEvent) => void (event.type === 'text' && manual.advance(ms)) });
    const idle = await run(agent, asking('wait', { limits: { activityMs: 20_000, totalMs: 200_000 } }), later(20_000));
    assert.deepEqual([idle.end.reason, idle.end.error?.code, idle.messages[0]?.content], ['deadline', 'idle', 'So far.']);
    const overdue = await run(agent, asking('wait', { sessionId: 'x', limits: { activityMs: 200_000, totalMs: 20_000 } }), later(20_000));
    assert.deepEqual([overdue.end.reason, overdue.end.error?.code], ['deadline', 'overdue']);
  });

  test('an agent that writes without end is stopped at a limit', async () => {
    await using bench = await newBench();
    const { end, messages } = await run(bench.agent(), asking('huge'));
    assert.deepEqual([end.reason, end.error?.code, messages[0]?.content.length], ['model_error', 'too_long', 500_000]);
  });

  test('what cannot be started, does not speak the protocol or does not answer is said in a sentence', async () => {
    await using bench = await newBench();
    const failing = async (more: Parameters<typeof bench.agent>[0]): Promise<string | undefined> => (await run(bench.agent(more), asking('echo x'))).end.error?.sentence;
    assert.equal(await failing({ options: { command: ['/nowhere/agent', 'acp'] } }), 'The agent `/nowhere/agent` could not be started. The owner has to check its `command`; the log says more.');
    assert.match((await failing({ abilities: 'broken' })) ?? '', /could not be started/);
    assert.match((await failing({ options: { command: [process.execPath, '-e', 'console.log("nonsense"); process.stdin.pipe(process.stdout)'] } })) ?? '', /could not be started/);
    const { clock, manual } = deadlineClock();
    const answered = failing({ abilities: 'mute', clock });
    while (!bench.told().some(({ event }) => event === 'mute')) await manual.advance(0);
    await manual.advance(60_000);
    assert.match((await answered) ?? '', /ended in the middle of its work/);
    while (!bench.logLines.some((line) => line.includes('acp.ended'))) await manual.advance(0);
  });

  test('refusals, errors, logins and empty answers end the turn in words of their own', async () => {
    await using bench = await newBench();
    const agent = bench.agent();
    const codes: (string | undefined)[] = [];
    for (const words of ['refuse', 'fail', 'login', 'nothing']) codes.push((await run(agent, asking(words, { sessionId: words }))).end.error?.code);
    assert.deepEqual(codes, ['content_blocked', 'agent_error', 'auth', 'empty_answer']);
    assert.equal((await run(agent, asking('fail', { turnId: '9', sessionId: '9' }))).end.error?.sentence, 'The agent reported an error: Internal error: no credit left');
    assert.equal((await run(agent, asking('echo fine', { turnId: '10', sessionId: '10' }))).text, 'fine', 'the process is as good as before');
  });
});
