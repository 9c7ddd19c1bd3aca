import type { IncomingMessage, ServerResponse } from 'node:http';
import { startSimulatorServer } from '../simulator-server.ts';

export interface SimulatedComment {
  readonly id: number;
  readonly body: string;
}

/** What becomes of the next comment that is written. `lost`: it is shown, and the connection breaks before the answer. */
export type GithubFault = 'lost' | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string };

/** As much of GitHub's REST API as comments need (https://docs.github.com/rest/issues/comments). */
export interface GithubSimulator extends AsyncDisposable {
  readonly token: string;
  readonly apiUrl: string;
  /** Requests in the order they came, such as `POST /repos/o/r/issues/1/comments`. */
  readonly log: readonly string[];
  comments(issue: string): readonly SimulatedComment[];
  /** Somebody else writes. */
  write(issue: string, body: string): void;
  fail(fault: GithubFault): void;
}

const readBody = async (request: IncomingMessage): Promise<string> => {
  let body = '';
  for await (const chunk of request) body += String(chunk);
  return body;
};

const commentsPath = /^\/repos\/([\w.-]+\/[\w.-]+)\/issues\/(\d+)\/comments$/;

/** Starts it with these issues, such as `octo/app#7`. */
export const startGithub = async (issues: readonly string[]): Promise<GithubSimulator> => {
  const token = 'ghp_simulatedTokenAAAAAAAAAAAA';
  const shown = new Map<string, SimulatedComment[]>(issues.map((issue) => [issue, []]));
  const faults: GithubFault[] = [];
  const log: string[] = [];
  let count = 1000;
  const write = (issue: string, body: string): SimulatedComment => {
    const written = { id: (count += 1), body };
    shown.get(issue)?.push(written);
    return written;
  };
  const answer = (response: ServerResponse, status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): void => {
    response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers }).end(typeof body === 'string' ? body : JSON.stringify(body));
  };
  const post = async (request: IncomingMessage, response: ServerResponse, issue: string): Promise<void> => {
    const { body } = JSON.parse(await readBody(request)) as { body: string };
    const fault = faults.shift();
    if (typeof fault === 'object') return answer(response, fault.status, fault.body ?? { message: 'simulated' }, fault.headers);
    if (body.length > 65_536) return answer(response, 422, { message: 'Validation Failed: body is too long (maximum is 65536 characters)' });
    const written = write(issue, body);
    if (fault === 'lost') return void response.destroy();
    return answer(response, 201, written);
  };
  const server = await startSimulatorServer(
    {
      async handle(request, response) {
        const url = new URL(request.url ?? '/', 'http://127.0.0.1');
        log.push(`${request.method} ${url.pathname}`);
        if (request.headers.authorization !== `Bearer ${token}`) return answer(response, 401, { message: 'Bad credentials' });
        const [, repo = '', number = ''] = commentsPath.exec(url.pathname) ?? [];
        const issue = `${repo}#${number}`;
        const comments = shown.get(issue);
        if (comments === undefined) return answer(response, 404, { message: 'Not Found' });
        if (request.method === 'POST') return post(request, response, issue);
        const [size, page] = [Number(url.searchParams.get('per_page') ?? 30), Number(url.searchParams.get('page') ?? 1)];
        return answer(response, 200, comments.slice((page - 1) * size, page * size));
      },
    },
    0,
  );
  return {
    token,
    apiUrl: `http://127.0.0.1:${server.port}`,
    log,
    comments: (issue) => shown.get(issue) ?? [],
    write: (issue, body) => void write(issue, body),
    fail: (fault) => void faults.push(fault),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
};
