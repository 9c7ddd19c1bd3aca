import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface HeardRequest {
  readonly path: string;
  readonly authorization: string | undefined;
  readonly fields: Readonly<Record<string, string>>;
  readonly file?: { readonly name: string; readonly type: string; readonly bytes: Uint8Array };
}

export type AudioAnswer = (response: ServerResponse, request: HeardRequest) => void;

/** An endpoint that speaks OpenAI's audio protocol over real HTTP, refuses what OpenAI would refuse, and fails as it is told. */
export interface AudioEndpoint extends AsyncDisposable {
  readonly baseUrl: string;
  readonly requests: readonly HeardRequest[];
  /** Answers for the next calls, one each; the others get what a working endpoint says. */
  next(...answers: AudioAnswer[]): void;
}

export const answerJson =
  (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): AudioAnswer =>
  (response) =>
    void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));

export const answerBytes =
  (type: string, bytes: Uint8Array | string): AudioAnswer =>
  (response) =>
    void response.writeHead(200, { 'content-type': type }).end(bytes);

export const answerNothing: AudioAnswer = () => undefined;

const refuse = (message: string): AudioAnswer => answerJson(400, { error: { message, type: 'invalid_request_error' } });

/** What OpenAI takes, by the ending of the name. */
const takenFiles = /\.(?:flac|mp3|mp4|mpeg|mpga|m4a|ogg|wav|webm)$/;

const readBytes = async (incoming: IncomingMessage): Promise<Uint8Array<ArrayBuffer>> => {
  const pieces: Uint8Array[] = [];
  for await (const piece of incoming) pieces.push(piece as Uint8Array);
  return new Uint8Array(Buffer.concat(pieces));
};

const readForm = async (incoming: IncomingMessage, body: Uint8Array<ArrayBuffer>): Promise<Pick<HeardRequest, 'fields' | 'file'>> => {
  const form = await new Response(body, { headers: { 'content-type': incoming.headers['content-type'] ?? '' } }).formData();
  const file = form.get('file');
  const fields = Object.fromEntries([...form].filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
  return file instanceof File ? { fields, file: { name: file.name, type: file.type, bytes: new Uint8Array(await file.arrayBuffer()) } } : { fields };
};

const transcribed: AudioAnswer = (response, request) => {
  const { fields, file } = request;
  if (file === undefined || file.bytes.length === 0) return refuse('file is required')(response, request);
  if (!takenFiles.test(file.name)) return refuse(`Unrecognized file format ${file.name}`)(response, request);
  if (fields['model'] === undefined || fields['model'] === '') return refuse('you must provide a model parameter')(response, request);
  return answerJson(200, { text: ` words of ${file.bytes.length} bytes ` })(response, request);
};

const spoken: AudioAnswer = (response, request) => {
  const { model, input, voice, response_format: format } = request.fields;
  if (model === undefined || input === undefined || voice === undefined || input.length > 4096) return refuse('invalid speech request')(response, request);
  if (format !== 'opus') return refuse(`unknown format ${String(format)}`)(response, request);
  return answerBytes('audio/ogg', `OggS:${input}`)(response, request);
};

const working: Readonly<Record<string, AudioAnswer>> = { '/v1/audio/transcriptions': transcribed, '/v1/audio/speech': spoken };

export const newAudioEndpoint = async (): Promise<AudioEndpoint> => {
  const requests: HeardRequest[] = [];
  const answers: AudioAnswer[] = [];
  const server = createServer(async (incoming, response) => {
    const path = incoming.url ?? '';
    const body = await readBytes(incoming);
    const isForm = incoming.headers['content-type']?.startsWith('multipart/form-data;') === true;
    const read = isForm ? await readForm(incoming, body) : { fields: JSON.parse(new TextDecoder().decode(body)) as Record<string, string> };
    const request: HeardRequest = { path, authorization: incoming.headers.authorization, ...read };
    requests.push(request);
    (answers.shift() ?? working[path] ?? answerJson(404, { error: { message: 'no such path' } }))(response, request);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    next: (...more) => void answers.push(...more),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};
