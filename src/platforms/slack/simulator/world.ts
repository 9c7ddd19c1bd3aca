import type { MediaKind } from '../../../core/message.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { VisibleMessage } from '../../simulator.ts';
import { emojiNamed } from '../emoji.ts';
import { records, text } from '../wire.ts';
import type { Json } from '../wire.ts';
import { wantedScopes } from '../workspaces.ts';
import { showMrkdwn, showPlain } from './mrkdwn.ts';

export interface SimulatedTeam {
  readonly id: string;
  readonly name: string;
  readonly token: string;
  readonly botUserId: string;
  readonly botId: string;
}

export interface StoredFile {
  readonly id: string;
  readonly teamId: string;
  readonly name: string;
  readonly mime: string;
  readonly kind: MediaKind;
  readonly durationMs?: number;
  bytes: Uint8Array;
  /** Where it is shown. */
  readonly shares: { readonly channel: string; readonly ts: string }[];
}

/** A message as everybody in the channel sees it now. */
export interface ChannelMessage {
  readonly ts: string;
  readonly user: string;
  readonly botId?: string;
  readonly threadTs?: string;
  readonly files: readonly StoredFile[];
  readonly subtype?: string;
  /** Somebody has written it, not the app. */
  readonly said?: true;
  readonly metadata?: unknown;
  /** Only this person sees it. */
  readonly reader?: string;
  text: string;
  mrkdwn: boolean;
  blocks: readonly Json[];
  editedTs?: string;
  edited: number;
  readonly reactions: Map<string, Set<string>>;
}

export interface SimulatedChannel {
  readonly id: string;
  readonly teamId: string;
  readonly kind: 'im' | 'mpim' | 'channel' | 'group';
  readonly name: string;
  /** The person of a direct chat. */
  readonly user?: string;
  readonly messages: Map<string, ChannelMessage>;
  /** Every call about it is refused with this. */
  refusal?: string;
  /** Posting here is limited. */
  retryAfterMs?: number;
}

/** Everything that Slack knows about one app. */
export interface World {
  readonly clock: Clock;
  readonly teams: SimulatedTeam[];
  readonly appToken: string;
  readonly signingSecret: string;
  readonly channels: Map<string, SimulatedChannel>;
  readonly people: Map<string, string>;
  readonly files: Map<string, StoredFile>;
  readonly typing: string[];
  /** Addresses at which slash commands can be answered, and how often still. */
  readonly replies: Map<string, { readonly channel: string; readonly user: string; left: number }>;
  /** What the app was allowed when it was installed. */
  scopes: readonly string[];
  nextTs(): string;
  nextId(prefix: string): string;
  visible(channelId: string): readonly VisibleMessage[];
}

const buttonsOf = (blocks: readonly Json[]): readonly { readonly label: string; readonly data: string }[] =>
  blocks
    .filter((block) => block['type'] === 'actions')
    .flatMap((block) => records(block['elements']))
    .map((element) => ({ label: text((element['text'] as Json | undefined)?.['text']) ?? '', data: text(element['value']) ?? '' }));

const sectionText = (block: Json, names: ReadonlyMap<string, string>): string => {
  const content = block['text'] as Json | undefined;
  const words = text(content?.['text']) ?? '';
  return content?.['type'] === 'plain_text' ? words : showMrkdwn(words, names);
};

const shownText = ({ blocks, mrkdwn, text: words }: ChannelMessage, names: ReadonlyMap<string, string>): string => {
  const sections = blocks.filter((block) => block['type'] === 'section');
  if (sections.length > 0) return sections.map((block) => sectionText(block, names)).join('\n');
  return mrkdwn ? showMrkdwn(words, names) : showPlain(words);
};

const toVisible = (channel: SimulatedChannel, message: ChannelMessage, names: ReadonlyMap<string, string>): VisibleMessage => ({
  id: message.ts,
  chatId: channel.id,
  ...(message.threadTs !== undefined && { threadId: message.threadTs }),
  text: shownText(message, names),
  media: message.files.map(({ kind, name, bytes }) => ({ kind, name, bytes })),
  choices: buttonsOf(message.blocks),
  reactions: [...message.reactions].filter(([, users]) => users.has(message.user)).map(([name]) => emojiNamed(name)),
  edited: message.edited,
});

export const newWorld = (clock: Clock, secrets: Pick<World, 'appToken' | 'signingSecret'>): World => {
  const channels = new Map<string, SimulatedChannel>();
  const people = new Map<string, string>();
  const teams: SimulatedTeam[] = [];
  let count = 0;
  let last = 0;
  return {
    ...secrets,
    clock,
    teams,
    channels,
    people,
    files: new Map(),
    typing: [],
    replies: new Map(),
    scopes: wantedScopes,
    nextTs() {
      // Microseconds, each given once.
      last = Math.max(last + 1, clock.now() * 1000);
      return `${Math.floor(last / 1_000_000)}.${String(last % 1_000_000).padStart(6, '0')}`;
    },
    nextId: (prefix) => `${prefix}${String((count += 1)).padStart(8, '0')}`,
    visible(channelId) {
      const channel = channels.get(channelId);
      if (channel === undefined) return [];
      const own = new Set(teams.map(({ botUserId }) => botUserId));
      return [...channel.messages.values()].filter((message) => own.has(message.user) && message.said !== true).map((message) => toVisible(channel, message, people));
    },
  };
};

const kindOfId = (id: string): SimulatedChannel['kind'] => (id.startsWith('D') ? 'im' : id.startsWith('G') ? 'mpim' : 'channel');

/** The channel of an id; one that nobody has spoken in yet comes into being. */
export const enter = (world: World, id: string, teamId: string, user?: string): SimulatedChannel => {
  const known = world.channels.get(id);
  if (known !== undefined) return known;
  const kind = kindOfId(id);
  const channel: SimulatedChannel = { id, teamId, kind, name: kind === 'im' ? '' : `channel-${id.toLowerCase()}`, messages: new Map(), ...(user !== undefined && { user }) };
  world.channels.set(id, channel);
  return channel;
};

const mimes: Readonly<Record<string, string>> = { png: 'image/png', jpg: 'image/jpeg', gif: 'image/gif', mp3: 'audio/mpeg', m4a: 'audio/mp4', ogg: 'audio/ogg', mp4: 'video/mp4', txt: 'text/plain', pdf: 'application/pdf' };

/** What Slack makes of a file's name. */
export const mimeOf = (name: string): string => mimes[name.split('.').at(-1)?.toLowerCase() ?? ''] ?? 'application/octet-stream';

export const kindOfMime = (mime: string): MediaKind => {
  if (mime === 'image/gif') return 'animation';
  const [type] = mime.split('/');
  if (type === 'image') return 'photo';
  return type === 'video' || type === 'audio' ? type : 'document';
};

export const wireFile = (world: World, file: StoredFile, root: string): Json => ({
  id: file.id,
  created: Math.floor(world.clock.now() / 1000),
  name: file.name,
  title: file.name,
  mimetype: file.mime,
  filetype: file.name.split('.').at(-1) ?? '',
  size: file.bytes.byteLength,
  mode: 'hosted',
  is_external: false,
  url_private: `${root}/files-pri/${file.id}/${encodeURIComponent(file.name)}`,
  url_private_download: `${root}/files-pri/${file.id}/download/${encodeURIComponent(file.name)}`,
  channels: file.shares.map(({ channel }) => channel).filter((id) => id.startsWith('C')),
  groups: file.shares.map(({ channel }) => channel).filter((id) => id.startsWith('G')),
  ims: file.shares.map(({ channel }) => channel).filter((id) => id.startsWith('D')),
  shares: { private: Object.fromEntries(file.shares.map(({ channel, ts }) => [channel, [{ ts }]])) },
  ...(file.kind === 'voice' && { subtype: 'slack_audio' }),
  ...(file.durationMs !== undefined && { duration_ms: file.durationMs }),
});

/** A message as the API and events tell it. */
export const wireMessage = (world: World, channel: SimulatedChannel, message: ChannelMessage, root: string): Json => {
  const replies = [...channel.messages.values()].filter(({ threadTs, ts }) => threadTs === message.ts && ts !== message.ts);
  const parent = message.threadTs === undefined ? undefined : channel.messages.get(message.threadTs);
  return {
    type: 'message',
    user: message.user,
    ts: message.ts,
    text: message.text,
    team: channel.teamId,
    ...(message.botId === undefined ? { client_msg_id: `msg-${message.ts}` } : { bot_id: message.botId }),
    ...(message.subtype !== undefined && { subtype: message.subtype }),
    ...(message.blocks.length > 0 && { blocks: message.blocks }),
    ...(message.files.length > 0 && { files: message.files.map((file) => wireFile(world, file, root)) }),
    ...(message.threadTs !== undefined && { thread_ts: message.threadTs, ...(parent !== undefined && { parent_user_id: parent.user }) }),
    ...(replies.length > 0 && { thread_ts: message.ts, reply_count: replies.length, latest_reply: replies.at(-1)?.ts }),
    ...(message.editedTs !== undefined && { edited: { user: message.user, ts: message.editedTs } }),
    ...(message.reactions.size > 0 && { reactions: [...message.reactions].map(([name, users]) => ({ name, users: [...users], count: users.size })) }),
  };
};
