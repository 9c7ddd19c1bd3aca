import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Clock } from '../../../lib/clock.ts';
import type { Faults } from '../../simulator-faults.ts';
import type { TokenKeeper } from './token-server.ts';
import type { Mailboxes, SimulatedFolder } from './mailboxes.ts';

/** What all connections share. */
export interface ImapWorld {
  readonly mailboxes: Mailboxes;
  readonly user: string;
  readonly password: string;
  /** Where people log in with tokens instead. */
  readonly tokens?: TokenKeeper;
  /** The folder that the server calls the one for sent mail. */
  readonly sentFolder?: string;
  readonly faults: Faults;
  readonly clock: Clock;
  readonly idle: boolean | 'refused';
  /** IDLE is accepted, and then nothing is told. */
  deaf: boolean;
  /** Commands are read and never answered. */
  frozen: boolean;
  /** APPEND is refused. */
  full: boolean;
  readonly log: string[];
  /** Wraps a connection after STARTTLS; undefined where it is not offered. */
  readonly secure?: (socket: Socket) => TLSSocket;
}

/** A connection as the server sees it. */
export interface Client {
  readonly world: ImapWorld;
  socket: Socket;
  isSecure: boolean;
  authenticated: boolean;
  selected: SimulatedFolder | undefined;
  /** How many mails of the folder the client knows of. */
  told: number;
  idling: boolean;
  write(line: string | Buffer): void;
  capabilities(): string;
  /** Tells of mail that has come since the client was told last. */
  tellChanges(): void;
}

export const newClient = (world: ImapWorld, socket: Socket): Client => {
  const client: Client = {
    world,
    socket,
    isSecure: false,
    authenticated: false,
    selected: undefined,
    told: 0,
    idling: false,
    write(line) {
      if (client.socket.writable) client.socket.write(Buffer.concat([Buffer.from(line), Buffer.from('\r\n')]));
    },
    capabilities() {
      const canStartTls = world.secure !== undefined && !client.isSecure;
      const logins = client.authenticated ? [] : canStartTls ? ['LOGINDISABLED'] : world.tokens === undefined ? ['AUTH=PLAIN', 'SASL-IR'] : ['AUTH=XOAUTH2', 'SASL-IR'];
      return ['IMAP4rev1', 'LITERAL+', 'ID', 'UIDPLUS', 'NAMESPACE', 'SPECIAL-USE', ...(world.idle === false ? [] : ['IDLE']), ...logins, ...(canStartTls ? ['STARTTLS'] : [])].join(' ');
    },
    tellChanges() {
      const count = client.selected?.mails.length;
      if (count === undefined || count === client.told) return;
      client.told = count;
      client.write(`* ${count} EXISTS`);
    },
  };
  return client;
};
