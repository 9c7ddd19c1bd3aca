import type { TurnPlace } from '../agent/contract.ts';
import { memorySessionOf } from '../agent/memory/places.ts';
import type { Platform } from '../platforms/contract.ts';
import type { OwnQuestions } from '../sessions/ask-person.ts';
import type { BegunTurn } from '../sessions/begin.ts';
import { planSpokenAnswer, voiceModeOf, wantsSpeech } from '../sessions/media/wants-speech.ts';
import { wantsTitle } from '../sessions/titles/wants-title.ts';
import type { Answering } from '../sessions/turn-parts.ts';
import { cronAccount, runOfSession } from '../store/cron/cron-runs.ts';
import { planTitle } from '../store/sessions/title-work.ts';
import type { Store } from '../store/store.ts';
import type { Agents } from './agents/agents.ts';
import { titlerOfAgent } from './agents/titler-of-agent.ts';
import type { CallWishes } from './api/api-gate.ts';
import { apiAccount, apiPlatform } from './api/place.ts';
import { withInstructions } from './api/with-instructions.ts';
import type { TurnHooks } from './hooks/turn-hooks.ts';

export interface AnsweringDeps {
  readonly store: Store;
  readonly agents: Agents;
  platform(account: string): Platform | undefined;
  /** Labels of the platforms that are configured. */
  platforms(): readonly string[];
  /** What the call of the API that a turn answers wants; undefined for every other turn. */
  apiCall(begun: BegunTurn): Promise<CallWishes | undefined>;
  /** How a run of the API is asked questions; undefined for every other turn. */
  runQuestions(begun: BegunTurn): OwnQuestions | undefined;
  readonly hooks: Pick<TurnHooks, 'begins' | 'onCompressed'>;
}

const placeOf = ({ session, turn, last }: BegunTurn, platform: Platform | undefined): TurnPlace => ({
  agent: session.agent,
  platform: platform?.name ?? session.account,
  target: turn.target,
  ...(last?.event.chat.name !== undefined && { chatName: last.event.chat.name }),
  ...(last !== undefined && { sessionKey: last.sessionKey }),
  ...(last !== undefined && last.event.kind !== 'notice' && { sender: last.event.sender }),
  ...(session.settings.workdir !== undefined && { workdir: session.settings.workdir }),
});

const wishesOf = ({ clientTools, toolChoice, reasoningEffort }: CallWishes): NonNullable<Answering['wishes']> => ({
  ...(clientTools !== undefined && { clientTools }),
  ...(toolChoice !== undefined && { toolChoice }),
  ...(reasoningEffort !== undefined && { reasoningEffort }),
});

/** Tools whose newest result stays through a summary, because their state is read from it. */
const keepResultsOf = ['todo'];

/** Puts together who answers a turn: the agent with its model, tools and memory, and what it is told about where it is. */
export const newAnswering =
  (deps: AnsweringDeps): ((begun: BegunTurn) => Promise<Answering>) =>
  async (begun) => {
    deps.hooks.begins(begun);
    const { session, turn } = begun;
    const { account } = turn.target;
    const platform = deps.platform(account);
    const runtime = await deps.agents.get(session.agent);
    const { settings, models, memory } = runtime;
    const { agent, toolBytes } = runtime.answererFor(account, session.settings.toolsets);
    const call = await deps.apiCall(begun);
    const prompt = await runtime.promptFor(begun, { platform: account === apiAccount ? apiPlatform : platform, connected: deps.platforms() });
    const system = withInstructions(prompt, session.settings.instructions, call?.instructions);
    const ownQuestions = deps.runQuestions(begun);
    const deliversTo = account === cronAccount ? (await deps.store.read((db) => runOfSession(db, session.id)))?.plan?.results[0] : undefined;
    const place = { ...placeOf(begun, platform), ...(deliversTo !== undefined && { deliversTo }) };
    const isAlone = account === cronAccount || platform?.surface === 'machine';
    const remembering = memorySessionOf(session, place);
    const model = session.settings.model ?? models.main.model;
    const isNamed = !isAlone && account !== apiAccount && wantsTitle(begun) && titlerOfAgent(runtime) !== undefined;
    const isSpoken = models.endpointFor('speech') !== undefined && wantsSpeech(voiceModeOf(session.settings, settings.voice), begun.last?.event);
    return {
      agent,
      system,
      place,
      reader: { model, contextTokens: models.contextTokens(model), outputTokens: settings.model.max_output_tokens, systemBytes: Buffer.byteLength(system), toolBytes },
      compression: { complete: models.completeText('compression'), options: runtime.isOtherProgram ? { ...settings.compression, enabled: false } : settings.compression, keepResultsOf, redact: (text) => runtime.redact(text), onCompressed: (facts) => deps.hooks.onCompressed(begun, facts) },
      limits: { activityMs: settings.agent.gateway_timeout * 1000, totalMs: settings.agent.turn_timeout * 1000, maxIterations: settings.agent.max_turns },
      asyncDelivery: platform?.asyncDelivery ?? false,
      attended: platform?.asyncDelivery ?? ownQuestions !== undefined,
      ...(ownQuestions !== undefined && { ownQuestions }),
      ...(call !== undefined && { wishes: wishesOf(call) }),
      folder: () => runtime.folderOf(session),
      // Neither a job nor a program is somebody whom one could get to know, and what programs send was written by others.
      recall: async (said) => (isAlone ? undefined : memory.recall(said, remembering)),
      async keepSaid(tx, said) {
        if (!isAlone) await memory.queueTurn(tx, { key: `turn:${turn.id}`, ...said }, remembering);
        if (isNamed) await planTitle(tx, { sessionId: session.id, agent: session.agent });
        if (isSpoken) await planSpokenAnswer(tx, { turnId: turn.id, sessionId: session.id, agent: session.agent, target: turn.target, text: said.assistant });
      },
      onKept: () => memory.wake(),
    };
  };
