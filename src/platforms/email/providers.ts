/** Where a provider's servers stand, and how it signs what it has checked. */
export interface Provider {
  readonly imapHost: string;
  readonly imapPort: number;
  readonly smtpHost: string;
  readonly smtpPort: number;
  /** Names under which it writes `Authentication-Results`; `*.` stands for any host below. */
  readonly authservIds: readonly string[];
}

/** How a header without a name of its server is called in `authserv_ids`: Microsoft writes such ones. */
export const namelessServer = 'nameless';

/** Presets of `provider`. */
export const providers = {
  gmail: { imapHost: 'imap.gmail.com', imapPort: 993, smtpHost: 'smtp.gmail.com', smtpPort: 465, authservIds: ['mx.google.com'] },
  outlook: { imapHost: 'outlook.office365.com', imapPort: 993, smtpHost: 'smtp.office365.com', smtpPort: 587, authservIds: [namelessServer] },
  fastmail: { imapHost: 'imap.fastmail.com', imapPort: 993, smtpHost: 'smtp.fastmail.com', smtpPort: 465, authservIds: ['*.messagingengine.com'] },
} as const satisfies Readonly<Record<string, Provider>>;

export type ProviderName = keyof typeof providers;
