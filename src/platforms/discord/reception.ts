import { PlatformError } from '../../core/errors.ts';
import type { InboundEvent } from '../../core/message.ts';
import { newChains } from '../../lib/chains.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import { newSlots } from '../../lib/slots.ts';
import type { Accepted, Inbox } from '../contract.ts';
import type { DiscordApi } from './api.ts';
import { catchUp, catchUpEdits, gapStart, rolesOf } from './catch-up.ts';
import type { CatchingUp } from './catch-up.ts';
import type { DirectChats } from './direct-chats.ts';
import type { Dispatch, GatewaySocket, Session } from './gateway-socket.ts';
import type { Interactions } from './interactions.ts';
import { inOwnThread, isOwn, parseMessage } from './parse.ts';
import type { Parsed, Reading, Surroundings } from './parse.ts';
import { parseInteraction, parseReaction, readInteraction } from './parse-other.ts';
import { readPlace } from './places.ts';
import type { Place, Places } from './places.ts';
import { patiently } from './patiently.ts';
import type { Position } from './position.ts';
import type { ThreadsBelow } from './threads-below.ts';
import { isNewer, isThreadType, list, snowflake, snowflakeAt, snowflakes, text } from './wire.ts';
import type { Json } from './wire.ts';

export interface Receiving {
  readonly api: DiscordApi;
  readonly inbox: Inbox;
  readonly reading: Reading;
  readonly places: Places;
  readonly directChats: DirectChats;
  readonly interactions: Interactions;
  readonly threadsBelow: ThreadsBelow;
  readonly catching: CatchingUp;
  readonly log: Logger;
  readonly clock: Clock;
}

/** What was missed: messages behind `after`, and changes of those up to `known`, the last one that was stored. */
interface Gap {
  readonly after: string;
  readonly known: string;
}

/** More events than this at once are not read before others are stored. */
const mostPending = 1000;

/** From so many channels at once messages are fetched that were missed; Discord limits how much a bot may ask. */
const mostFetching = 4;

/** One connection: events in, stored in order within a channel and side by side across channels. */
export class Reception {
  readonly #parts: Receiving;
  readonly #position: Position;
  readonly #gapStart: string | undefined;
  readonly #lanes = newChains();
  readonly #caughtUp = new Set<string>();
  readonly #fetching = newSlots(mostFetching);
  readonly #roles = new Map<string, Promise<readonly string[] | undefined>>();
  readonly #underway = new Set<Promise<void>>();
  readonly #signal: AbortSignal;
  readonly #hasDirectChats: boolean;
  #sessionId: string;
  #socket: GatewaySocket | undefined;
  #isPaused = false;
  #failed = false;
  lastEventMs: number;

  /** Direct chats belong to the first connection of an account. */
  constructor(parts: Receiving, { position, isFirst }: { readonly position: Position; readonly isFirst: boolean }, signal: AbortSignal) {
    this.#parts = parts;
    this.#position = position;
    this.#hasDirectChats = isFirst;
    this.#gapStart = gapStart(parts.catching, position.after);
    this.#signal = signal;
    this.#sessionId = position.session?.id ?? '';
    this.lastEventMs = parts.clock.now();
  }

  attach(socket: GatewaySocket): void {
    this.#socket = socket;
  }

  /** Never throws: what goes wrong ends the connection. */
  dispatched({ name, seq, data }: Dispatch): void {
    this.lastEventMs = this.#parts.clock.now();
    this.#position.began(seq);
    this.#parts.places.observe(name, data);
    if (this.#position.pending() > mostPending && !this.#isPaused) {
      this.#isPaused = true;
      this.#socket?.pause();
    }
    const work = this.#handle({ name, seq, data }).then(
      (messageId) => this.#stored(seq, messageId),
      (error: unknown) => this.#fail(error),
    );
    this.#underway.add(work);
    void work.finally(() => this.#underway.delete(work));
  }

  /** Waits for what is being stored when the connection ends. */
  async settled(): Promise<void> {
    await Promise.all(this.#underway);
  }

  #stored(seq: number, messageId: string | undefined): void {
    this.#position.stored(seq, messageId);
    if (!this.#isPaused || this.#position.pending() > mostPending / 2) return;
    this.#isPaused = false;
    this.#socket?.resume();
  }

  #fail(error: unknown): void {
    this.#failed = true;
    this.#socket?.fail(error);
  }

  /** Behind an event that could not be stored nothing of its channel is, so that the order stays when all of it comes again. */
  #inLane<T>(channelId: string, work: () => Promise<T>): Promise<T> {
    return this.#lanes.run(channelId, async () => {
      if (this.#failed || this.#signal.aborted) throw new PlatformError('aborted', 'the connection is over');
      try {
        return await work();
      } catch (error) {
        this.#failed = true;
        throw error;
      }
    });
  }

  /** Answers the id of the message that is stored now, if it was one. */
  async #handle({ name, seq, data }: Dispatch): Promise<string | undefined> {
    const channelId = snowflake(data['channel_id']) ?? '';
    switch (name) {
      case 'READY':
        return this.#began(data);
      case 'RESUMED':
        this.#position.resumed();
        return undefined;
      case 'GUILD_CREATE':
        return this.#guildCame(data);
      case 'MESSAGE_CREATE':
        await this.#inLane(channelId, () => this.#takeMessage(data, 'message'));
        return snowflake(data['id']);
      case 'MESSAGE_UPDATE':
        await this.#inLane(channelId, () => this.#takeMessage(data, 'edit'));
        return undefined;
      case 'MESSAGE_REACTION_ADD':
      case 'MESSAGE_REACTION_REMOVE':
        await this.#inLane(channelId, () => this.#takeReaction(data, { eventId: `${this.#sessionId}:${seq}`, added: name === 'MESSAGE_REACTION_ADD' }));
        return undefined;
      case 'INTERACTION_CREATE':
        await this.#inLane(channelId, () => this.#takeInteraction(data));
        return undefined;
      default:
        return undefined;
    }
  }

  async #began(data: Json): Promise<undefined> {
    const { clock, log, directChats } = this.#parts;
    const id = text(data['session_id']);
    const url = text(data['resume_gateway_url']);
    if (id === undefined || url === undefined) throw new PlatformError('unavailable', 'READY names no session');
    this.#sessionId = id;
    this.#position.opened({ id, url } satisfies Omit<Session, 'seq'>, snowflakeAt(clock.now()));
    log.info({ session: id, guilds: list(data['guilds']).length, since: this.#gapStart }, 'discord.session.began');
    const gap = this.#gap();
    if (gap === undefined || !this.#hasDirectChats) return;
    await Promise.all((await directChats.list()).map((channel) => this.#catchUp({ id: channel }, gap)));
  }

  /** Channels with messages behind the gap are asked for them, before anything that comes from there now. */
  async #guildCame(data: Json): Promise<undefined> {
    const guildId = snowflake(data['id']);
    if (guildId === undefined || data['unavailable'] === true) return;
    const newest = this.#position.newestMessage();
    const gap = !this.#caughtUp.has(guildId) ? this.#gap() : newest === undefined ? undefined : { after: newest, known: newest };
    this.#caughtUp.add(guildId);
    if (gap === undefined) return;
    const places = [...list(data['channels']), ...list(data['threads'])].flatMap((channel) => readPlace(channel, guildId) ?? []);
    await Promise.all(places.filter(({ lastMessageId }) => lastMessageId !== undefined && isNewer(lastMessageId, gap.after)).map((place) => this.#catchUp(place, gap)));
  }

  /** Undefined when nothing can have been missed. */
  #gap(): Gap | undefined {
    return this.#gapStart === undefined ? undefined : { after: this.#gapStart, known: this.#position.after ?? this.#gapStart };
  }

  async #catchUp({ id, guildId }: Pick<Place, 'id' | 'guildId'>, gap: Gap): Promise<void> {
    const { catching } = this.#parts;
    const fetchAll = async (): Promise<void> => {
      await catchUpEdits(catching, { id, guildId, ...gap }, (message) => this.#takeMessage(message, 'edit in history'), this.#signal);
      await catchUp(catching, { id, guildId, ...gap }, (message) => this.#takeMessage(message, 'history'), this.#signal);
    };
    await this.#inLane(id, () => this.#fetching.run(this.#signal, fetchAll));
  }

  async #around(data: Json, channelId: string): Promise<Surroundings> {
    const { places, reading, clock } = this.#parts;
    const guildId = snowflake(data['guild_id']);
    if (guildId === undefined) return { place: places.known(channelId), ownRoles: new Set() };
    const ask = <T>(question: () => Promise<T>): Promise<T> => patiently(clock, this.#signal, question);
    const place = await ask(() => places.find(channelId, this.#signal));
    const above = isThreadType(place?.type) ? place?.parentId : undefined;
    const parent = above === undefined ? undefined : await ask(() => places.find(above, this.#signal));
    const hasRoles = snowflakes(data['mention_roles']).length > 0;
    const ownRoles = hasRoles ? await ask(() => places.ownRoles(guildId, reading.identity.id, this.#signal)) : new Set<string>();
    return { place, parent, guildName: places.guildName(guildId), ownRoles };
  }

  async #takeMessage(data: Json, from: 'message' | 'edit' | 'history' | 'edit in history'): Promise<void> {
    const { reading, directChats, threadsBelow, clock, inbox } = this.#parts;
    const channelId = snowflake(data['channel_id']) ?? '';
    const isEdit = from === 'edit' || from === 'edit in history';
    if (isOwn(reading, data)) return this.#parts.log.debug({ id: snowflake(data['id']), reason: 'own message' }, 'discord.event.skipped');
    const parsed = parseMessage(reading, data, await this.#around(data, channelId), isEdit);
    if ('skip' in parsed) return this.#skipped(parsed, data);
    const placed = isEdit ? await this.#belowItself(parsed) : parsed;
    const event = from === 'history' || from === 'edit in history' ? await this.#withRoles(placed) : placed;
    if (event.chat.type === 'dm') await directChats.seen(channelId, clock.now());
    const accept = (): Promise<Accepted> => inbox.accept(event);
    if (!isEdit && event.chat.id !== channelId) return threadsBelow.promise(event, channelId, accept);
    await accept();
  }

  /** A message that is changed before its thread exists belongs there all the same. */
  async #belowItself(event: InboundEvent): Promise<InboundEvent> {
    const { messageId, chat } = event;
    if (messageId === undefined || chat.type === 'dm' || chat.type === 'thread') return event;
    return (await this.#parts.threadsBelow.isPromised(messageId)) ? { ...event, chat: inOwnThread(chat, messageId) } : event;
  }

  async #withRoles(event: InboundEvent): Promise<InboundEvent> {
    const { scopeId } = event.chat;
    if (scopeId === undefined || !event.addressed || event.sender.isBot) return event;
    const key = `${scopeId}:${event.sender.id}`;
    const known = this.#roles.get(key) ?? rolesOf(this.#parts.catching, { guild: scopeId, user: event.sender.id }, this.#signal);
    this.#roles.set(key, known);
    const roles = await known;
    return roles === undefined ? event : { ...event, sender: { ...event.sender, roles } };
  }

  async #takeReaction(data: Json, event: { readonly eventId: string; readonly added: boolean }): Promise<void> {
    const { reading, clock } = this.#parts;
    if (data['user_id'] === reading.identity.id) return;
    const around = await this.#around(data, snowflake(data['channel_id']) ?? '');
    const parsed = parseReaction(reading, data, around, { ...event, atMs: clock.now() });
    if ('skip' in parsed) return this.#skipped(parsed, data);
    await this.#parts.inbox.accept(parsed);
  }

  async #takeInteraction(data: Json): Promise<void> {
    const { reading, interactions, directChats, clock } = this.#parts;
    const channelId = snowflake(data['channel_id']) ?? '';
    const place = readPlace(data['channel'], snowflake(data['guild_id']));
    const around = place === undefined ? await this.#around(data, channelId) : { place, guildName: place.guildId === undefined ? undefined : this.#parts.places.guildName(place.guildId), ownRoles: new Set<string>() };
    const interaction = readInteraction(data);
    const parsed = parseInteraction(reading, data, around);
    if ('skip' in parsed || interaction === undefined) return this.#skipped(parsed, data);
    if (parsed.chat.type === 'dm') await directChats.seen(channelId, clock.now());
    await interactions.take(interaction, () => this.#parts.inbox.accept(parsed), this.#signal);
  }

  #skipped(parsed: Parsed, data: Json): void {
    if ('skip' in parsed) this.#parts.log.info({ id: snowflake(data['id']), channel: snowflake(data['channel_id']), reason: parsed.skip }, 'discord.event.skipped');
  }
}
