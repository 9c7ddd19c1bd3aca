import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile, stat } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { silentLogger } from '../../../lib/logger.ts';
import { logInTo } from './log-in.ts';
import { newBench, serverSettings } from './servers.test-support.ts';
import type { Bench } from './servers.test-support.ts';

/** A server behind a login, and the login server; only the newest token is good. */
const guarded = async () => {
  const app = new Hono();
  const granted: string[] = [];
  const asked: URLSearchParams[] = [];
  const shown: string[] = [];
  let registered = 0;
  const self = { url: '' };
  const grant = (): object => {
    granted.push(`token-${granted.length + 1}`);
    return { access_token: granted.at(-1), token_type: 'Bearer', expires_in: 3600, refresh_token: 'refresh-me' };
  };
  app.get('/.well-known/oauth-protected-resource/mcp', (c) => c.json({ resource: `${self.url}/mcp`, authorization_servers: [self.url] }));
  app.get('/.well-known/oauth-authorization-server', (c) =>
    c.json({ issuer: self.url, authorization_endpoint: `${self.url}/authorize`, token_endpoint: `${self.url}/token`, registration_endpoint: `${self.url}/register`, response_types_supported: ['code'], code_challenge_methods_supported: ['S256'], token_endpoint_auth_methods_supported: ['none'] }),
  );
  app.post('/register', async (c) => {
    registered += 1;
    return c.json({ ...(await c.req.json<object>()), client_id: `client-${registered}` }, 201);
  });
  app.get('/authorize', (c) => {
    const params = new URL(c.req.url).searchParams;
    asked.push(params);
    return c.redirect(`${params.get('redirect_uri')}?code=good&state=${params.get('state')}`);
  });
  app.post('/token', async (c) => {
    const form = new URLSearchParams(await c.req.text());
    const good = form.get('grant_type') === 'refresh_token' ? form.get('refresh_token') === 'refresh-me' : form.get('code') === 'good';
    return good ? c.json(grant()) : c.json({ error: 'invalid_grant' }, 400);
  });
  app.all('/mcp', async (c) => {
    const authorization = c.req.header('authorization');
    if (authorization !== undefined) shown.push(authorization);
    if (granted.length === 0 || authorization !== `Bearer ${granted.at(-1)}`) {
      return c.body(null, 401, { 'www-authenticate': `Bearer resource_metadata="${self.url}/.well-known/oauth-protected-resource/mcp"` });
    }
    if (c.req.method !== 'POST') return c.body(null, 405);
    const { id, method } = await c.req.json<{ id?: number; method: string }>();
    if (id === undefined) return c.body(null, 202);
    const result = { initialize: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'g', version: '1' } }, 'tools/list': { tools: [{ name: 'safe' }] }, 'tools/call': { content: [{ type: 'text', text: 'opened' }] } }[method];
    return result === undefined ? c.json({ jsonrpc: '2.0', id, error: { code: -32_601, message: 'Method not found' } }) : c.json({ jsonrpc: '2.0', id, result });
  });
  const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' });
  await once(server, 'listening');
  self.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `${self.url}/mcp`,
    asked,
    /** What the server was shown to get in. */
    shown,
    registered: () => registered,
    /** What was granted so far is worth nothing any more. */
    revoke: () => granted.push('nobody has this'),
    async [Symbol.asyncDispose]() {
      if ('closeAllConnections' in server) server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
};

const person = async (bench: Bench, url: string, more: { readonly again?: boolean; readonly visit?: (address: URL) => void } = {}) => {
  const { visit = (address) => void fetch(address), again = false } = more;
  const options = serverSettings({ url, auth: 'oauth', oauth: { scope: 'extra' } });
  return logInTo({ name: 'far', options, home: bench.home, version: '1', clock: bench.clock, log: silentLogger, redact: (text) => text, environment: () => ({}), show: visit, again }, AbortSignal.timeout(60_000));
};

test('a person logs in once, and the gateway uses and renews what they were given', async () => {
  await using server = await guarded();
  await using bench = await newBench();
  assert.deepEqual(await person(bench, server.url), { tools: 1 });
  assert.equal(server.asked[0]?.get('scope'), 'extra');
  assert.equal(server.asked[0]?.get('code_challenge_method'), 'S256');

  await bench.configure({ far: { url: server.url, auth: 'oauth' } });
  await bench.reach('far', 'ready');
  assert.match(await bench.call('mcp_far_safe'), /opened/);
  server.revoke();
  assert.match(await bench.call('mcp_far_safe'), /opened/);
  assert.equal(server.asked.length, 1, 'nobody was sent to the login page again');
  assert.equal(server.registered(), 1);
});

test('what was given is kept for the owner alone, and for that address alone', async () => {
  await using server = await guarded();
  await using bench = await newBench();
  await person(bench, server.url);
  const path = join(bench.home, 'mcp-tokens', 'far.json');
  assert.equal((await stat(path)).mode & 0o777, 0o600);
  assert.match(await readFile(path, 'utf8'), /"access_token": "token-1"/);
  await using other = await guarded();
  await bench.configure({ far: { url: other.url, auth: 'oauth' } });
  await bench.reach('far', 'login');
  assert.deepEqual(other.shown, []);
});

test('a second login needs no page unless it is asked for', async () => {
  await using server = await guarded();
  await using bench = await newBench();
  await person(bench, server.url);
  await person(bench, server.url);
  assert.equal(server.asked.length, 1);
  await person(bench, server.url, { again: true });
  assert.equal(server.asked.length, 2);
  assert.equal(server.registered(), 2, 'the browser comes back to another port, which the login server has to know');
});

test('somebody else’s login is not taken for ours', async () => {
  await using server = await guarded();
  await using bench = await newBench();
  const visit = (address: URL): void => void fetch(`${address.searchParams.get('redirect_uri')}?code=good&state=forged`);
  await assert.rejects(person(bench, server.url, { visit }), /not the one that was begun/);
});

test('a login that nobody finishes ends with its signal, and one for a server without logins says so', async () => {
  await using server = await guarded();
  await using bench = await newBench();
  const stop = new AbortController();
  const options = serverSettings({ url: server.url, auth: 'oauth' });
  const deps = { name: 'far', options, home: bench.home, version: '1', clock: bench.clock, log: silentLogger, redact: (text: string) => text, environment: () => ({}), show: () => stop.abort(new Error('went home')) };
  await assert.rejects(logInTo(deps, stop.signal), /went home/);
  await assert.rejects(logInTo({ ...deps, options: serverSettings({ url: server.url }) }, stop.signal), /auth: oauth/);
});
