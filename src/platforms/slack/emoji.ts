/** Emoji that people and agents react with, by Slack's names for them. */
const names: readonly (readonly [string, string])[] = [
  ['👍', '+1'], ['👎', '-1'], ['👀', 'eyes'], ['✅', 'white_check_mark'], ['❌', 'x'], ['❤️', 'heart'], ['🎉', 'tada'], ['🔥', 'fire'], ['🚀', 'rocket'], ['💯', '100'],
  ['😀', 'grinning'], ['😂', 'joy'], ['😄', 'smile'], ['😉', 'wink'], ['😊', 'blush'], ['😍', 'heart_eyes'], ['🤔', 'thinking_face'], ['😢', 'cry'], ['😭', 'sob'], ['😱', 'scream'],
  ['😡', 'rage'], ['🤯', 'exploding_head'], ['😴', 'sleeping'], ['😎', 'sunglasses'], ['🤖', 'robot_face'], ['🙏', 'pray'], ['👏', 'clap'], ['🙌', 'raised_hands'], ['💪', 'muscle'],
  ['👌', 'ok_hand'], ['👋', 'wave'], ['🤝', 'handshake'], ['✋', 'raised_hand'], ['☝️', 'point_up'], ['⏳', 'hourglass_flowing_sand'], ['⌛', 'hourglass'], ['⏰', 'alarm_clock'],
  ['⚠️', 'warning'], ['🚫', 'no_entry_sign'], ['⛔', 'no_entry'], ['❓', 'question'], ['❗', 'exclamation'], ['💡', 'bulb'], ['🔧', 'wrench'], ['🔍', 'mag'], ['📝', 'memo'], ['📌', 'pushpin'],
  ['📎', 'paperclip'], ['📅', 'date'], ['📈', 'chart_with_upwards_trend'], ['📉', 'chart_with_downwards_trend'], ['📦', 'package'], ['🔒', 'lock'], ['🔓', 'unlock'], ['🔑', 'key'],
  ['⭐', 'star'], ['🌟', 'star2'], ['✨', 'sparkles'], ['⚡', 'zap'], ['🐛', 'bug'], ['♻️', 'recycle'], ['🔄', 'arrows_counterclockwise'], ['🛑', 'octagonal_sign'], ['✏️', 'pencil2'],
  ['🧵', 'thread'], ['🤷', 'shrug'], ['🥳', 'partying_face'], ['🏆', 'trophy'], ['☕', 'coffee'], ['🍕', 'pizza'], ['➕', 'heavy_plus_sign'], ['🆗', 'ok'], ['🆕', 'new'], ['🙈', 'see_no_evil'],
];

const bare = (emoji: string): string => emoji.replaceAll('\uFE0F', '');

const nameOf: ReadonlyMap<string, string> = new Map(names.map(([emoji, name]) => [bare(emoji), name]));
const emojiOf: ReadonlyMap<string, string> = new Map([...names.map(([emoji, name]): [string, string] => [name, emoji]), ['thumbsup', '👍'], ['thumbsdown', '👎'], ['heavy_check_mark', '✅']]);

/** Slack's name for an emoji; a name in colons, such as `:party_parrot:`, is one already. Undefined for those we cannot name. */
export const emojiName = (emoji: string): string | undefined => nameOf.get(bare(emoji)) ?? /^:([\w+'-]+):$/.exec(emoji)?.[1];

/** The emoji of a name; a workspace's own ones stay a name in colons. Skin tones are left out. */
export const emojiNamed = (name: string): string => {
  const [plain = ''] = name.split('::');
  return emojiOf.get(plain) ?? `:${plain}:`;
};
