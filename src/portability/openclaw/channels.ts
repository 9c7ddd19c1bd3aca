interface Credential {
  readonly there: string;
  readonly here: string;
  /** For the default account. */
  readonly variable: string;
}

/** What is the same thing in a channel of OpenClaw and in a platform of ours. */
export interface ChannelFacts {
  readonly credentials: readonly Credential[];
  /** Other settings, by their names there and here. */
  readonly settings: Readonly<Record<string, string>>;
  /** What is better made anew, and why. */
  readonly anew?: Readonly<Record<string, string>>;
  /** What may stand before an id of a person or a chat. */
  readonly prefix: RegExp;
  /** How ids of people look; names are no ids. */
  readonly person: RegExp;
  /** Where everything is answered although a mention is needed elsewhere. */
  readonly free: string;
  /** Direct chats have the id of the person. */
  readonly chatIsPerson: boolean;
}

export const channels: Readonly<Record<string, ChannelFacts>> = {
  telegram: {
    credentials: [{ there: 'botToken', here: 'token', variable: 'TELEGRAM_BOT_TOKEN' }],
    settings: { proxy: 'proxy', webhookUrl: 'webhook_url' },
    prefix: /^(?:(?:tg|telegram|user|group|channel|direct):)+/i,
    person: /^\d+$/,
    free: 'free_response_chats',
    chatIsPerson: true,
  },
  discord: {
    credentials: [{ there: 'token', here: 'token', variable: 'DISCORD_BOT_TOKEN' }],
    settings: { proxy: 'proxy' },
    prefix: /^(?:(?:discord|user|channel|pk):)+/i,
    person: /^\d+$/,
    free: 'free_response_channels',
    chatIsPerson: false,
  },
  slack: {
    credentials: [
      { there: 'botToken', here: 'bot_token', variable: 'SLACK_BOT_TOKEN' },
      { there: 'appToken', here: 'app_token', variable: 'SLACK_APP_TOKEN' },
      { there: 'signingSecret', here: 'signing_secret', variable: 'SLACK_SIGNING_SECRET' },
    ],
    settings: { mode: 'mode' },
    prefix: /^(?:(?:slack|user|channel):)+/i,
    person: /^[UW][A-Z0-9]{6,}$/i,
    free: 'free_response_channels',
    chatIsPerson: false,
  },
  matrix: {
    credentials: [{ there: 'password', here: 'password', variable: 'MATRIX_PASSWORD' }],
    anew: { accessToken: 'it belongs to a device whose keys for encrypted rooms stay there; set a password, or the token of a new device' },
    settings: { homeserver: 'homeserver', userId: 'user_id' },
    prefix: /^(?:(?:matrix|user|room|channel):)+(?=[@!#])/i,
    person: /^@[^:]+:.+$/,
    free: 'free_response_rooms',
    chatIsPerson: false,
  },
};

/** An account of a channel as it is called here. */
export const accountName = (channel: string, account: string | undefined): string => (account === undefined || account === 'default' ? channel : `${channel}@${account}`);

/** An id without what OpenClaw writes before it. */
export const bareId = (channel: string, id: string): string => {
  const bare = id.trim().replace(channels[channel]?.prefix ?? '', '').replace(/^<@!?(\d+)>$/, '$1');
  // OpenClaw writes ids in small letters where it uses them as keys.
  return channel === 'slack' ? bare.toUpperCase() : bare;
};
