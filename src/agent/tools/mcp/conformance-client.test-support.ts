import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import type { Question } from '../../../core/question.ts';
import { systemClock } from '../../../lib/clock.ts';
import { silentLogger } from '../../../lib/logger.ts';
import { somewhere } from '../../turn.test-support.ts';
import type { ToolContext } from '../contract.ts';
import { openConnection } from './connection.ts';
import { listenForLogin } from './login-listener.ts';
import type { Browser } from './oauth.ts';
import { serverSettings } from './servers.test-support.ts';

/** The program that `@modelcontextprotocol/conformance` examines: our own connection, a person who agrees to everything, and a browser that follows links. */
export const conformanceClient = fileURLToPath(import.meta.url);

const credentials = z.object({ client_id: z.string(), client_secret: z.string(), private_key_pem: z.string(), signing_algorithm: z.string() }).partial();

const settingsFor = (scenario: string, url: string, given: z.output<typeof credentials>): object => {
  if (!scenario.startsWith('auth/')) return { url };
  const { private_key_pem: private_key, signing_algorithm: algorithm, ...registered } = given;
  const oauth = {
    ...registered,
    ...(private_key !== undefined && { private_key }),
    ...(algorithm !== undefined && { algorithm }),
    ...(scenario === 'auth/basic-cimd' && { client_metadata_url: 'https://conformance-test.local/client-metadata.json' }),
  };
  return { url, oauth, auth: scenario.startsWith('auth/client-credentials') ? 'client_credentials' : 'oauth' };
};

const agree = ({ options }: Question): string => (options.find(({ value }) => value === 'hermes:skip') ?? options[0])?.value ?? 'skip';

const context: ToolContext = {
  sessionId: 'session',
  turnId: 'turn',
  callId: 'call',
  place: somewhere,
  clock: systemClock,
  asyncDelivery: true,
  alive: () => undefined,
  ask: async (question) => ({ type: 'answered', value: agree(question), by: '7' }),
};

/** Connects, lists the tools, and calls each of them. */
const beExamined = async (settings: object, home: string): Promise<void> => {
  const signal = AbortSignal.timeout(300_000);
  await using listener = await listenForLogin(0);
  const browser: Browser = {
    redirectUrl: listener.url,
    async visit(address) {
      await (await fetch(address)).text();
      return listener.arrival(signal);
    },
  };
  const deps = { name: 'judge', options: serverSettings(settings), home, version: '1.0.0', clock: systemClock, log: silentLogger, redact: (text: string) => text, environment: () => ({}), browser };
  const connection = await openConnection(deps, signal);
  const { tools } = await connection.offers(signal);
  for (const { name } of tools) {
    await connection.use(context, signal, (client, how) => client.callTool({ name, arguments: name === 'add_numbers' ? { a: 5, b: 3 } : {} }, how));
  }
  await connection.close('the examination is over');
};

if (import.meta.main) {
  const { MCP_CONFORMANCE_SCENARIO: scenario = '', MCP_CONFORMANCE_CONTEXT: given = '{}' } = process.env;
  const home = await mkdtemp(join(tmpdir(), 'hermes-mcp-'));
  try {
    await beExamined(settingsFor(scenario, process.argv.at(-1) ?? '', credentials.parse(JSON.parse(given))), home);
  } finally {
    await rm(home, { recursive: true, force: true });
  }
  process.exit(0);
}
