import { record, text } from '../wire.ts';
import type { ChatMessage, SimulatedChat } from './chats.ts';
import { generalTopicId } from './chats.ts';
import { readButtons, readText, wireMessage } from './outgoing.ts';
import type { Params } from './outgoing.ts';
import { badRequest } from './refusal.ts';
import { chatOf, sendAlbum, sendFile, sendText } from './sending.ts';
import type { Call } from './sending.ts';
import type { World } from './world.ts';

export type Method = (call: Call) => unknown;

/** https://core.telegram.org/bots/api#reactiontypeemoji */
const reactions: ReadonlySet<unknown> = new Set(
  '❤ 👍 👎 🔥 🥰 👏 😁 🤔 🤯 😱 🤬 😢 🎉 🤩 🤮 💩 🙏 👌 🕊 🤡 🥱 🥴 😍 🐳 ❤‍🔥 🌚 🌭 💯 🤣 ⚡ 🍌 🏆 💔 🤨 😐 🍓 🍾 💋 🖕 😈 😴 😭 🤓 👻 👨‍💻 👀 🎃 🙈 😇 😨 🤝 ✍ 🤗 🫡 🎅 🎄 ☃ 💅 🤪 🗿 🆒 💘 🙉 🦄 😘 💊 🙊 😎 👾 🤷‍♂ 🤷 🤷‍♀ 😡'.split(' '),
);

const maxDownloadBytes = 20 * 1024 * 1024;

const messageOf = (chat: SimulatedChat, params: Params, verb: string): ChatMessage => {
  const message = chat.messages.get(Number(params['message_id']));
  if (message === undefined) throw badRequest(`message to ${verb} not found`);
  return message;
};

const ownMessage = (call: Call): { chat: SimulatedChat; message: ChatMessage } => {
  const chat = chatOf(call);
  const message = messageOf(chat, call.params, 'edit');
  if (!message.fromBot) throw badRequest("message can't be edited");
  return { chat, message };
};

const unchanged = 'message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message';

const editText: Method = (call) => {
  const { chat, message } = ownMessage(call);
  if (message.files.length > 0) throw badRequest('there is no text in the message to edit');
  const words = readText(call.params);
  const buttons = readButtons(call.params);
  if (JSON.stringify([words.text, words.entities, buttons]) === JSON.stringify([message.text, message.entities, message.buttons])) throw badRequest(unchanged);
  Object.assign(message, { ...words, buttons, edited: message.edited + 1 });
  return wireMessage(chat, message);
};

const editButtons: Method = (call) => {
  const { chat, message } = ownMessage(call);
  message.buttons = readButtons(call.params);
  return wireMessage(chat, message);
};

const deleteMessage: Method = (call) => {
  const chat = chatOf(call);
  return chat.messages.delete(messageOf(chat, call.params, 'delete').id);
};

const react: Method = (call) => {
  const chat = chatOf(call);
  const message = messageOf(chat, call.params, 'react');
  const emoji = ((call.params['reaction'] ?? []) as readonly Params[]).map((reaction) => String(reaction['emoji']));
  if (emoji.length > 1) throw badRequest('REACTIONS_TOO_MANY');
  if (!emoji.every((one) => reactions.has(one))) throw badRequest('REACTION_INVALID');
  message.reaction = emoji;
  return true;
};

const showTyping: Method = (call) => {
  const chat = chatOf(call);
  const thread = call.params['message_thread_id'];
  const isGeneral = chat.isForum && Number(thread) === generalTopicId;
  if (thread !== undefined && !isGeneral && !chat.topics.has(Number(thread))) throw badRequest('message thread not found');
  call.world.typing.push(String(chat.id));
  return true;
};

const createTopic: Method = (call) => {
  const chat = chatOf(call);
  const canHaveTopics = chat.kind === 'private' ? call.world.privateTopics : chat.isForum;
  if (!canHaveTopics) throw badRequest('the chat is not a forum');
  const name = text(call.params['name']) ?? '';
  if (name === '' || name.length > 128) throw badRequest('TOPIC_TITLE_EMPTY');
  const id = call.world.chats.nextId();
  chat.topics.set(id, name);
  return { message_thread_id: id, name, icon_color: 7322096 };
};

const editTopic: Method = (call) => {
  const chat = chatOf(call);
  const id = Number(call.params['message_thread_id']);
  if (!chat.topics.has(id)) throw badRequest('TOPIC_ID_INVALID');
  const name = text(call.params['name']) ?? '';
  if (name.length > 128) throw badRequest('TOPIC_TITLE_TOO_LONG');
  if (name === chat.topics.get(id)) throw badRequest('TOPIC_NOT_MODIFIED');
  chat.topics.set(id, name);
  return true;
};

const answerQuery: Method = ({ world, params }) => {
  const id = String(params['callback_query_id']);
  if (!world.callbackQueries.has(id)) throw badRequest('query is too old and response timeout expired or query ID is invalid');
  world.callbackAnswers.push({ id, text: text(params['text']) });
  return true;
};

const getFile: Method = ({ world, params }) => {
  const file = world.files.get(String(params['file_id']));
  if (file === undefined) throw badRequest('wrong file_id or the file is temporarily unavailable');
  if (file.bytes.byteLength > maxDownloadBytes) throw badRequest('file is too big');
  return { file_id: file.fileId, file_unique_id: `u${file.fileId}`, file_size: file.bytes.byteLength, file_path: `${file.kind}/${file.fileId}` };
};

const setCommands: Method = ({ world, params }) => {
  const commands = params['commands'] as readonly unknown[];
  if (commands.length > 100) throw badRequest('BOT_COMMANDS_TOO_MUCH');
  const valid = commands.map(record).every((item) => /^[a-z0-9_]{1,32}$/.test(text(item?.['command']) ?? '') && /^[^]{1,256}$/.test(text(item?.['description']) ?? ''));
  if (!valid) throw badRequest('BOT_COMMAND_INVALID');
  world.commands = commands;
  return true;
};

const setWebhook: Method = ({ world, params }) => {
  const url = text(params['url']) ?? '';
  if (url === '') world.webhook.remove();
  else world.webhook.set(url, text(params['secret_token']));
  return true;
};

const webhookInfo = ({ webhook, updates }: World): unknown => ({
  url: webhook.url,
  has_custom_certificate: false,
  pending_update_count: updates.pending().length,
  ...(webhook.lastError !== undefined && { last_error_message: webhook.lastError }),
});

const removeWebhook: Method = ({ world }) => {
  world.webhook.remove();
  return true;
};

const yes: Method = () => true;

/** Every method but `getUpdates`, which the server holds open itself. */
export const methods: Readonly<Record<string, Method>> = {
  getMe: ({ world }) => ({ ...world.bot, can_join_groups: true, can_read_all_group_messages: true, supports_inline_queries: false, has_topics_enabled: world.privateTopics, allows_users_to_create_topics: world.privateTopics }),
  setWebhook,
  deleteWebhook: removeWebhook,
  getWebhookInfo: ({ world }) => webhookInfo(world),
  logOut: yes,
  close: yes,
  setMyCommands: setCommands,
  getMyCommands: ({ world }) => world.commands,
  deleteMyCommands: yes,
  setMyShortDescription: yes,
  sendMessage: sendText,
  sendMessageDraft: yes,
  sendPhoto: sendFile('photo'),
  sendVideo: sendFile('video'),
  sendAnimation: sendFile('animation'),
  sendAudio: sendFile('audio'),
  sendVoice: sendFile('voice'),
  sendSticker: sendFile('sticker'),
  sendDocument: sendFile('document'),
  sendMediaGroup: sendAlbum,
  sendChatAction: showTyping,
  editMessageText: editText,
  editMessageReplyMarkup: editButtons,
  deleteMessage,
  setMessageReaction: react,
  pinChatMessage: yes,
  unpinChatMessage: yes,
  getFile,
  createForumTopic: createTopic,
  editForumTopic: editTopic,
  answerCallbackQuery: answerQuery,
};
