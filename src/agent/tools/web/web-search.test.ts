import assert from 'node:assert/strict';
import { test } from 'node:test';
import { manualClock, systemClock } from '../../../lib/clock.ts';
import { newSite, webContext, webOptions } from './web.test-support.ts';
import type { Site } from './web.test-support.ts';
import { webTools } from './web-tools.ts';

const never = new AbortController().signal;
const search = (site: Site, settings: Record<string, unknown>, args: Record<string, unknown> = {}, clock = systemClock): Promise<string> => {
  const tool = webTools(webOptions({ base_url: `http://127.0.0.1:${site.port}/`, api_key: 'k3y', ...settings }), { clock: systemClock }).find(({ definition }) => definition.name === 'web_search');
  return tool!.run({ query: 'ships & sails', ...args }, webContext(clock), never);
};
const answering = (json: unknown, status = 200): Promise<Site> => newSite((_request, response) => void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json)));
const lines = (marked: string): string[] => marked.split('\n').slice(1, -1);

const entry = { title: 'Of <strong>Ships</strong>', url: 'https://ships.example/1' };

interface Case {
  readonly answer: unknown;
  readonly nothing: unknown;
  readonly method: string;
  readonly path: string;
  readonly header: readonly [string, string];
  readonly body?: unknown;
}

/** What each service is asked, and an answer as it gives one. */
const cases: Readonly<Record<string, Case>> = {
  searxng: {
    answer: { query: 'q', number_of_results: 0, results: [{ ...entry, content: 'They\n sail.', engine: 'x', score: 1 }], suggestions: [] },
    nothing: { results: [] }, method: 'GET', path: '/search?q=ships+%26+sails&format=json', header: ['authorization', 'Bearer k3y'],
  },
  brave: {
    answer: { type: 'search', query: {}, web: { type: 'search', results: [{ ...entry, description: 'They <strong>sail</strong>.', age: '1' }] } },
    nothing: { type: 'search', query: {} }, method: 'GET', path: '/res/v1/web/search?q=ships+%26+sails&count=3', header: ['x-subscription-token', 'k3y'],
  },
  tavily: {
    answer: { query: 'q', answer: null, results: [{ ...entry, content: 'They sail.', score: 0.9 }], response_time: 1 },
    nothing: { results: [] }, method: 'POST', path: '/search', header: ['authorization', 'Bearer k3y'], body: { query: 'ships & sails', max_results: 3 },
  },
  exa: {
    answer: { requestId: 'r', results: [{ ...entry, id: '1', text: 'They sail.', author: null }] },
    nothing: { results: [] }, method: 'POST', path: '/search', header: ['x-api-key', 'k3y'], body: { query: 'ships & sails', numResults: 3, contents: { text: { maxCharacters: 600 } } },
  },
  serper: {
    answer: { searchParameters: {}, organic: [{ title: entry.title, link: entry.url, snippet: 'They sail.', position: 1 }] },
    nothing: { organic: [] }, method: 'POST', path: '/search', header: ['x-api-key', 'k3y'], body: { q: 'ships & sails', num: 3 },
  },
};

for (const [backend, { answer, nothing, method, path, header, body }] of Object.entries(cases)) {
  test(`${backend} is asked in its own way and its answer is read`, async () => {
    await using site = await answering(answer);
    const found = await search(site, { backend }, { limit: 3 });
    assert.match(found, /^\[untrusted text [0-9a-f]{24} from "web search for ships & sails" begins/);
    assert.deepEqual(lines(found), ['1. Of Ships', '   https://ships.example/1', '   They sail.']);
    const [request] = site.requests;
    assert.deepEqual([request?.method, request?.url, request?.headers[header[0]]], [method, path, header[1]]);
    if (body !== undefined) assert.deepEqual(JSON.parse(request?.body ?? ''), body);
    await using empty = await answering(nothing);
    assert.equal(await search(empty, { backend }), 'Nothing found for "ships & sails".');
  });
}

test('without a service there is no such tool; with one that lacks its address or key the setting is wrong', () => {
  assert.deepEqual(webTools(webOptions(), { clock: systemClock }).map(({ definition }) => definition.name), ['web_fetch']);
  assert.throws(() => webOptions({ backend: 'searxng' }), /web\.base_url/);
  assert.throws(() => webOptions({ backend: 'brave' }), /web\.api_key or WEB_SEARCH_API_KEY/);
  assert.throws(() => webOptions({ backend: 'bing' }));
  assert.throws(() => webOptions({ allow_private_hosts: ['http://x'] }), /must be a host/);
});

test('no more results are shown than asked for, none of closed hosts, and none without a web address', async () => {
  await using site = await answering({ results: [{ ...entry, url: 'https://a.closed.test/' }, { ...entry, url: 'javascript:alert(1)' }, { title: 'no url' }, ...Array.from({ length: 9 }, (_, index) => ({ ...entry, url: `https://x.test/${index}` }))] });
  const found = lines(await search(site, { backend: 'searxng', blocked_hosts: ['closed.test'] }));
  assert.deepEqual(found.filter((line) => line.includes('http')), [0, 1, 2, 3, 4].map((index) => `   https://x.test/${index}`));
  await assert.rejects(search(site, { backend: 'searxng' }, { limit: 6 }), { code: 'bad_arguments' });
});

test('what goes wrong at the service is said in words, and names what the owner can do', async () => {
  const problems: readonly [number, string, RegExp][] = [[401, 'unavailable', /web\.api_key/], [403, 'unavailable', /web\.api_key/], [402, 'unavailable', /paid/], [429, 'failed', /limiting us/], [500, 'failed', /status 500/], [302, 'failed', /status 302/]];
  for (const [status, code, message] of problems) {
    await using site = await answering({}, status);
    await assert.rejects(search(site, { backend: 'tavily' }), { code, message }, String(status));
  }
  await using strange = await answering({ error: 'x' });
  await assert.rejects(search(strange, { backend: 'brave' }), { code: 'failed', message: /no list of results/ });
  await using page = await newSite((_request, response) => void response.end('<html>'));
  await assert.rejects(search(page, { backend: 'exa' }), { code: 'failed', message: /did not answer with JSON/ });
  const gone = await answering({});
  await gone[Symbol.asyncDispose]();
  await assert.rejects(search(gone, { backend: 'serper' }), { code: 'failed', message: /cannot be reached/ });
});

test('a service that redirects does not get our key sent elsewhere', async () => {
  await using other = await answering({ results: [] });
  await using site = await newSite((_request, response) => void response.writeHead(307, { location: `http://127.0.0.1:${other.port}/` }).end());
  await assert.rejects(search(site, { backend: 'tavily' }), { code: 'failed' });
  assert.equal(other.requests.length, 0);
});

test('a service that is silent is not waited for longer than the limit', async () => {
  await using site = await newSite(() => undefined);
  const clock = manualClock();
  const running = search(site, { backend: 'exa' }, {}, clock);
  while (site.requests.length === 0) await new Promise<void>((resolve) => setImmediate(resolve));
  const failed = assert.rejects(running, { code: 'failed', message: /search service did not answer within 30 seconds/ });
  await clock.advance(30_000);
  await failed;
});
