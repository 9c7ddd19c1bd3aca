import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parse } from 'yaml';
import { slackOptions } from './options.ts';
import { wantedScopes } from './workspaces.ts';

const page = readFileSync(new URL('../../../docs/platforms/slack.md', import.meta.url), 'utf8');
const source = /```yaml\n([\s\S]*?)```/.exec(page)?.[1] ?? assert.fail('the page has no manifest');

interface Manifest {
  readonly features: { readonly slash_commands: readonly { readonly command: string }[] };
  readonly oauth_config: { readonly scopes: { readonly bot: readonly string[] } };
  readonly settings: { readonly socket_mode_enabled: boolean; readonly interactivity: { readonly is_enabled: boolean }; readonly event_subscriptions: { readonly bot_events: readonly string[] } };
}

const manifest = parse(source) as Manifest;

test('the manifest that owners paste asks for the rights that are used, and no others', () => {
  assert.deepEqual(manifest.oauth_config.scopes.bot, wantedScopes);
});

test('it names our slash command, the events that are read, and switches on what is needed', () => {
  const { slash_command: command } = slackOptions.parse({ bot_token: 'xoxb-1', app_token: 'xapp-1' });
  assert.deepEqual(manifest.features.slash_commands.map((each) => each.command), [command]);
  assert.deepEqual(manifest.settings.event_subscriptions.bot_events, ['member_joined_channel', 'message.channels', 'message.groups', 'message.im', 'message.mpim', 'reaction_added', 'reaction_removed']);
  assert.ok(manifest.settings.socket_mode_enabled && manifest.settings.interactivity.is_enabled);
});
