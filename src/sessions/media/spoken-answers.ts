import { randomBytes } from 'node:crypto';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { speak } from '../../agent/models/media/speech.ts';
import type { Spoken } from '../../agent/models/media/speech.ts';
import type { TaskEndpoint } from '../../agent/models/models.ts';
import { ModelError } from '../../core/errors.ts';
import type { OutboundMedia } from '../../core/message.ts';
import { enqueueText, withoutAnchor } from '../../delivery/compose.ts';
import type { Connections } from '../../delivery/connections.ts';
import { backoffMs } from '../../lib/backoff.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import type { Platform } from '../../platforms/contract.ts';
import { claimSpeech, finishSpeech, giveUpSpeech, postponeSpeech, releaseSpeech } from '../../store/agents/speech-work.ts';
import type { SpeechWork } from '../../store/agents/speech-work.ts';
import { persist } from '../../store/persist.ts';
import type { Store } from '../../store/store.ts';
import { PlannedWork } from '../planned-work.ts';
import type { TtsOptions } from './options.ts';
import { serviceTrouble } from './service-trouble.ts';
import { spokenText } from './spoken-text.ts';

export interface SpokenAnswersDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  /** The node. */
  readonly owner: string;
  /** `<home>/media` */
  readonly folder: string;
  readonly connections: Connections;
  /** Accounts that are connected here: whoever sends a file has to have it. */
  accounts(): readonly string[];
  tts(): TtsOptions;
  /** Who speaks for an agent; undefined where nobody does. */
  endpoint(agent: string): Promise<TaskEndpoint | undefined>;
}

const atOnce = 3;
const leaseMs = 300_000;
const retry = { baseMs: 5_000, capMs: 60_000 } as const;
const mostAttempts = 3;
/** Words that come later are not waited for any more. */
const freshMs = 15 * 60_000;

/** Why an answer will not be spoken, as it is remembered. */
class Unspeakable extends Error {}

/**
 * Speaks answers that are planned with `planSpeech`: each becomes one voice message behind its text. What is under way when the process ends is begun again;
 * the delivery and the end of the plan are one transaction, so nothing is sent twice. What fails is logged and remembered for /voice, and nobody is bothered with it.
 */
export class SpokenAnswers {
  readonly #deps: SpokenAnswersDeps;
  readonly #work: PlannedWork;

  constructor(deps: SpokenAnswersDeps) {
    const { store, clock, log, owner } = deps;
    this.#deps = deps;
    this.#work = new PlannedWork({ store, clock, log, channel: 'speech', atOnce, perform: (signal) => this.#performNext(signal), release: () => store.write((tx) => releaseSpeech(tx, owner)) });
  }

  start(): void {
    this.#work.start();
  }

  /** There may be something to do: an account can be reached again. */
  wake(): void {
    this.#work.wake();
  }

  stop(): Promise<void> {
    return this.#work.stop();
  }

  async #performNext(signal: AbortSignal): Promise<boolean> {
    const { store, owner } = this.#deps;
    const work = await store.write((tx) => claimSpeech(tx, { owner, accounts: this.#deps.accounts(), leaseMs }));
    if (work !== undefined) await this.#perform(work, signal);
    return work !== undefined;
  }

  async #perform(work: SpeechWork, signal: AbortSignal): Promise<void> {
    try {
      const spoken = await this.#speak(work, signal);
      await this.#deliver(work, spoken, signal);
    } catch (error) {
      if (signal.aborted) return;
      await this.#failed(work, error);
    }
  }

  /** Undefined when there is nothing to be said. */
  async #speak(work: SpeechWork, signal: AbortSignal): Promise<Spoken | undefined> {
    const { connections, clock, tts } = this.#deps;
    if (work.ageMs > freshMs) throw new Unspeakable('it would have come too late');
    if (connections.adapter(work.target.account)?.media === undefined) throw new Unspeakable('no files can be sent there');
    const endpoint = await this.#deps.endpoint(work.agent);
    if (endpoint === undefined) throw new Unspeakable('no speech service is configured (`auxiliary.speech`)');
    const { voice, format, speed, max_chars: maxChars } = tts();
    const text = spokenText(work.text, maxChars);
    if (text === '') return undefined;
    return speak(endpoint, { text, voice, format, ...(speed !== undefined && { speed }) }, { clock, signal });
  }

  async #deliver(work: SpeechWork, spoken: Spoken | undefined, signal: AbortSignal): Promise<void> {
    const { store, clock, log, owner, connections } = this.#deps;
    const platform = connections.platform(work.target.account);
    const file = spoken === undefined || platform === undefined ? undefined : await this.#keep(work, spoken);
    const sent = await persist(() => store.write((tx) => this.#finish(tx, { work, owner, platform, file })), { clock, log, signal });
    if (!sent && file !== undefined) await rm(file.path, { force: true });
    log.info({ turn: work.turnId, chars: work.text.length, bytes: spoken?.bytes.byteLength ?? 0, sent }, 'speech.done');
  }

  async #finish(tx: Parameters<typeof finishSpeech>[0], done: { work: SpeechWork; owner: string; platform: Platform | undefined; file: OutboundMedia | undefined }): Promise<boolean> {
    const { work, owner, platform, file } = done;
    const mine = await finishSpeech(tx, { turnId: work.turnId, owner });
    if (!mine || platform === undefined || file === undefined) return false;
    await enqueueText(tx, platform, { key: `turn:${work.turnId}:voice`, target: withoutAnchor(work.target), text: '', media: [file], quiet: true, turnId: work.turnId });
    return true;
  }

  async #keep(work: SpeechWork, { bytes, mime, extension }: Spoken): Promise<OutboundMedia> {
    const folder = join(this.#deps.folder, 'spoken');
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const path = join(folder, `${work.turnId}-${randomBytes(4).toString('hex')}${extension}`);
    await writeFile(path, bytes, { flag: 'wx', mode: 0o600 });
    return { kind: 'voice', path, mime, name: `answer${extension}` };
  }

  async #failed(work: SpeechWork, error: unknown): Promise<void> {
    const { store, log } = this.#deps;
    const passing = !(error instanceof Unspeakable) && (!(error instanceof ModelError) || error.rule.retry);
    const reason = error instanceof ModelError ? `the speech service ${serviceTrouble[error.code]}` : error instanceof Unspeakable ? error.message : 'of an error on my side';
    const again = passing && work.attempts < mostAttempts;
    log.warn({ err: error, turn: work.turnId, attempts: work.attempts, again }, 'speech.not_spoken');
    await store.write((tx) => (again ? postponeSpeech(tx, work.turnId, { delayMs: backoffMs(work.attempts, retry), error: reason }) : giveUpSpeech(tx, work.turnId, reason)));
  }
}
