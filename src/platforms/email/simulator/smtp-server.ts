import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { SMTPServer } from 'smtp-server';
import type { SMTPServerOptions, SMTPServerSession } from 'smtp-server';
import type { Clock } from '../../../lib/clock.ts';
import type { Fault } from '../../simulator.ts';
import type { Faults } from '../../simulator-faults.ts';
import type { TokenKeeper } from './token-server.ts';

/** A mail that the server has accepted. */
export interface Accepted {
  readonly from: string;
  readonly to: string;
  readonly raw: Buffer;
}

/** What the server says instead of yes, at one of its steps. */
export interface SmtpRefusal {
  readonly at: 'mail' | 'rcpt' | 'data';
  readonly code: number;
  readonly text: string;
}

export interface SmtpWorld {
  readonly user: string;
  readonly password: string;
  /** Where people log in with tokens instead. */
  readonly tokens?: TokenKeeper;
  readonly faults: Faults;
  readonly clock: Clock;
  readonly refusals: SmtpRefusal[];
  /** The name of the certificate's files where TLS is offered. */
  readonly tls?: { readonly key: string; readonly cert: string };
  onMail(mail: Accepted): void;
}

export interface SmtpSimulation extends AsyncDisposable {
  readonly port: number;
  /** Connections that are open now. */
  readonly connections: number;
}

type Done = (error?: Error | null) => void;

const refusal = (code: number, text: string): Error => Object.assign(new Error(text), { responseCode: code });

const readAll = async (stream: AsyncIterable<Buffer>): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
};

/** A submission server that asks for a login and takes mail for anybody. */
export const startSmtp = async (world: SmtpWorld, port: number): Promise<SmtpSimulation> => {
  const socketOf = (session: SMTPServerSession): Socket | undefined => [...server.connections].find(({ id }) => id === session.id)?._socket;
  const destroy = (session: SMTPServerSession): void => void socketOf(session)?.destroy();
  const takeRefusal = (at: SmtpRefusal['at']): SmtpRefusal | undefined => {
    const index = world.refusals.findIndex((each) => each.at === at);
    return index === -1 ? undefined : world.refusals.splice(index, 1)[0];
  };
  const planned = new WeakMap<SMTPServerSession, Fault>();

  const atRecipient = (session: SMTPServerSession, done: Done): void => {
    const refused = takeRefusal('rcpt');
    if (refused !== undefined) return done(refusal(refused.code, refused.text));
    const fault = world.faults.take('send');
    if (fault !== undefined) planned.set(session, fault);
    switch (fault?.type) {
      case 'rate_limit':
        return done(refusal(450, `4.7.1 You are too fast, try again in ${Math.ceil(fault.retryAfterMs / 1000)} seconds`));
      case 'refuse':
        return destroy(session);
      case 'garbage':
        socketOf(session)?.write('\u0001 this is not SMTP\r\n');
        return destroy(session);
      default:
        return done();
    }
  };

  const atData = async (session: SMTPServerSession, raw: Buffer, done: Done): Promise<void> => {
    const fault = planned.get(session);
    planned.delete(session);
    const refused = takeRefusal('data');
    if (refused !== undefined) return done(refusal(refused.code, refused.text));
    if (fault?.type === 'status') return done(fault.status >= 500 ? refusal(451, `4.3.0 ${fault.description ?? 'Something went wrong here'}`) : refusal(554, `5.6.0 ${fault.description ?? 'No'}`));
    if (fault?.type === 'delay') await world.clock.sleep(fault.ms);
    if (fault?.type === 'hang') return undefined;
    const { mailFrom, rcptTo } = session.envelope;
    for (const { address } of rcptTo) world.onMail({ from: mailFrom === false ? '' : mailFrom.address, to: address.toLowerCase(), raw });
    return fault?.type === 'drop_answer' ? destroy(session) : done();
  };

  const options: SMTPServerOptions = {
    logger: false,
    hideSTARTTLS: world.tls === undefined,
    ...world.tls,
    allowInsecureAuth: world.tls === undefined,
    authMethods: world.tokens === undefined ? ['PLAIN', 'LOGIN'] : ['XOAUTH2'],
    onAuth({ username, password, accessToken = '' }, _session, done) {
      const isRight = world.tokens === undefined ? password === world.password : world.tokens.accepts(accessToken);
      if (isRight && username === world.user) return done(null, { user: username });
      // With tokens the refusal is a challenge that says why.
      return world.tokens === undefined ? done(refusal(535, '5.7.8 Authentication credentials invalid')) : done(null, { data: { status: '401', schemes: 'bearer', scope: 'mail' } });
    },
    onMailFrom(_address, _session, done) {
      const refused = takeRefusal('mail');
      done(refused === undefined ? null : refusal(refused.code, refused.text));
    },
    onRcptTo: (_address, session, done) => atRecipient(session, done),
    onData(stream, session, done) {
      readAll(stream as unknown as AsyncIterable<Buffer>).then((raw) => atData(session, raw, done), done);
    },
  };
  const server = new SMTPServer(options);
  // A client that breaks the connection off in the middle is part of the game.
  server.on('error', () => undefined);
  const listening = server.server;
  server.listen(port, '127.0.0.1');
  await once(listening, 'listening');
  return {
    port: (listening.address() as AddressInfo).port,
    get connections() {
      return server.connections.size;
    },
    async [Symbol.asyncDispose]() {
      for (const { _socket: socket } of server.connections) socket.destroy();
      const closed = once(listening, 'close');
      server.close(() => undefined);
      await closed;
    },
  };
};
