import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { audioTypeOf } from '../../agent/models/media/audio-type.ts';
import { transcribe } from '../../agent/models/media/speech.ts';
import type { TaskEndpoint } from '../../agent/models/models.ts';
import { ModelError } from '../../core/errors.ts';
import type { Attachment } from '../../core/transcript.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import type { MediaNotes } from '../../store/messages/media-notes.ts';
import { sizeWords } from './file-words.ts';
import type { SttOptions } from './options.ts';
import { serviceTrouble } from './service-trouble.ts';

export interface HearDeps {
  /** `<home>/media` */
  readonly folder: string;
  readonly notes: MediaNotes;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface HearOptions {
  /** Undefined where nobody writes down what is said. */
  readonly endpoint: TaskEndpoint | undefined;
  readonly stt: SttOptions;
}

/** What was said in a recording, or why that is not known, in words that follow `because`. */
export type Heard = { readonly type: 'words'; readonly text: string } | { readonly type: 'unheard'; readonly because: string };

const mebibyte = 1024 * 1024;

const unheard = (because: string): Heard => ({ type: 'unheard', because });

const listen = async (deps: HearDeps, file: { readonly attachment: Attachment; readonly endpoint: TaskEndpoint; readonly language: string | undefined }, signal: AbortSignal): Promise<string> => {
  const { attachment, endpoint, language } = file;
  const bytes = await readFile(join(deps.folder, attachment.path));
  const key = ['transcript', createHash('sha256').update(bytes).digest('hex'), endpoint.model, language ?? ''].join(':');
  const known = await deps.notes.find(key);
  if (known !== undefined) return known;
  const type = audioTypeOf(bytes) ?? { mime: attachment.mime, extension: extname(attachment.path) };
  const startedMs = deps.clock.now();
  const recording = { bytes: new Uint8Array(bytes), mime: type.mime, name: `recording${type.extension}`, ...(language !== undefined && { language }) };
  const text = await transcribe(endpoint, recording, { clock: deps.clock, signal });
  deps.log.info({ model: endpoint.model, bytes: bytes.length, chars: text.length, ms: deps.clock.now() - startedMs }, 'media.transcribed');
  return deps.notes.keep(key, { text, model: endpoint.model });
};

/** Writes down what was said, once for each recording and model. It takes as long as the endpoint may take and rejects only with the store. */
export const hear = async (deps: HearDeps, attachment: Attachment, options: HearOptions, signal: AbortSignal): Promise<Heard> => {
  const { endpoint, stt } = options;
  if (!stt.enabled) return unheard('transcription is switched off (`stt.enabled`)');
  if (endpoint === undefined) return unheard('no transcription service is configured (the owner can name one in `auxiliary.transcription`)');
  const { size } = await stat(join(deps.folder, attachment.path));
  if (size > stt.max_mb * mebibyte) return unheard(`it is too large (${sizeWords(size)}, and at most ${stt.max_mb} MB are transcribed)`);
  try {
    return { type: 'words', text: await listen(deps, { attachment, endpoint, language: stt.language }, signal) };
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    deps.log.warn({ err: error, code: error.code, endpoint: endpoint.provider, model: endpoint.model }, 'media.not_transcribed');
    return unheard(error.code === 'aborted' ? 'I was stopped' : `the transcription service ${serviceTrouble[error.code]}`);
  }
};
