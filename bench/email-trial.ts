import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import SmtpConnection from 'nodemailer/lib/smtp-connection';
import { replyTarget } from '../src/core/message.ts';
import type { InboundEvent } from '../src/core/message.ts';
import { capturingLogger } from '../src/lib/logger.ts';
import { email } from '../src/platforms/email/index.ts';
import { startEmailSimulator } from '../src/platforms/email/simulator.ts';
import { newInbox, never } from '../src/platforms/conformance-bench.ts';
import type { BenchInbox } from '../src/platforms/conformance-bench.ts';
import { openStoredData } from '../test/support/stored-data.ts';
import { until } from '../test/support/whole.ts';
import { freePort } from '../test/support/free-port.ts';

/**
 * Tries e-mail with an IMAP server that is not ours: Dovecot from Debian, installed with apt when that is possible, in a temporary folder on 127.0.0.1.
 * Mail comes in by LMTP and goes out through smtp-server. Run by hand as root: `node bench/email-trial.ts`.
 */
const address = 'hermes@gateway.test';

const report = (what: string, ok: boolean, more = ''): void => {
  if (!ok) process.exitCode = 1;
  console.log(`${ok ? '✔' : '✖'} ${what}${more === '' ? '' : ` (${more})`}`);
};

const run = promisify(execFile);

/** Where Debian puts it, which is not on everybody's path. */
const dovecot = '/usr/sbin/dovecot';

const dovecotVersion = async (): Promise<string> => (await run(dovecot, ['--version'])).stdout.trim();

const install = async (): Promise<string> => {
  try {
    return await dovecotVersion();
  } catch {
    console.log('installing dovecot-imapd and dovecot-lmtpd with apt');
    await run('apt-get', ['install', '-y', '--no-install-recommends', 'dovecot-imapd', 'dovecot-lmtpd'], { env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } });
    return dovecotVersion();
  }
};

const configuration = (folder: string, ports: { readonly imap: number; readonly lmtp: number }, password: string): string => `
base_dir = ${folder}/run
state_dir = ${folder}/state
log_path = ${folder}/log
protocols = imap lmtp
listen = 127.0.0.1
ssl = no
disable_plaintext_auth = no
default_internal_user = nobody
default_internal_group = nogroup
default_login_user = nobody
auth_username_format = %Lu
mail_location = maildir:${folder}/mail/%u
passdb {
  driver = static
  args = password=${password}
}
userdb {
  driver = static
  args = uid=nobody gid=nogroup home=${folder}/mail/%u
}
service imap-login {
  chroot =
  inet_listener imap {
    port = ${ports.imap}
  }
  inet_listener imaps {
    port = 0
  }
}
service lmtp {
  inet_listener lmtp {
    port = ${ports.lmtp}
  }
}
service anvil {
  chroot =
}
`;

const canConnect = async (port: number): Promise<boolean> => {
  const { connect } = await import('node:net');
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
};

const startDovecot = async (folder: string, password: string) => {
  const ports = { imap: await freePort(), lmtp: await freePort() };
  for (const name of ['run', 'state', 'mail']) await mkdir(join(folder, name), { recursive: true });
  await chmod(folder, 0o755);
  await run('chown', ['nobody:nogroup', join(folder, 'mail')]);
  await writeFile(join(folder, 'dovecot.conf'), configuration(folder, ports, password));
  const child = spawn(dovecot, ['-F', '-c', join(folder, 'dovecot.conf')], { stdio: 'inherit' });
  await until(() => canConnect(ports.imap), 'Dovecot to listen');
  return {
    ports,
    async stop() {
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
};

/** A mail as it reaches Dovecot from the owner's MX, which has checked its sender. */
const mailOf = (id: string, text: string, more: { readonly writtenAtMs?: number; readonly attachment?: string } = {}): string => {
  const headers = [`Authentication-Results: mx.trial.test; dmarc=pass header.from=example.org`, 'From: Alice <alice@example.org>', `To: ${address}`, `Message-ID: <${id}@example.org>`, `Date: ${new Date(more.writtenAtMs ?? Date.now()).toUTCString()}`, 'MIME-Version: 1.0'];
  if (more.attachment === undefined) return [...headers, 'Content-Type: text/plain; charset=utf-8', '', text, ''].join('\r\n');
  const parts = ['--b', 'Content-Type: text/plain; charset=utf-8', '', text, '--b', 'Content-Type: application/pdf; name="a.pdf"', 'Content-Disposition: attachment; filename="a.pdf"', 'Content-Transfer-Encoding: base64', '', Buffer.from(more.attachment).toString('base64'), '--b--', ''];
  return [...headers, 'Content-Type: multipart/mixed; boundary=b', '', ...parts].join('\r\n');
};

const deliver = async (port: number, raw: string): Promise<void> => {
  const lmtp = new SmtpConnection({ host: '127.0.0.1', port, lmtp: true, ignoreTLS: true });
  await new Promise<void>((resolve, reject) => lmtp.connect((error) => (error ? reject(error) : resolve())));
  await new Promise<void>((resolve, reject) => lmtp.send({ from: 'alice@example.org', to: [address] }, raw, (error) => (error ? reject(error) : resolve())));
  lmtp.quit();
};

const textsOf = (inbox: BenchInbox): readonly string[] => inbox.events.map(({ text }) => text);

const trial = async (folder: string): Promise<void> => {
  await using provider = await startEmailSimulator();
  const server = await startDovecot(folder, String(provider.options['password']));
  const { log, lines } = capturingLogger();
  const data = await openStoredData(folder);
  const options = email.options.parse({ ...provider.options, imap_port: server.ports.imap, authserv_ids: ['mx.trial.test'] }) as Parameters<typeof email.open>[0]['options'];
  const open = (given = options) => email.open({ account: 'email', options: given, log, data, home: folder, mediaFolder: folder });
  const inbox = newInbox();
  const receive = async () => {
    const adapter = await open();
    const stopping = new AbortController();
    const running = adapter.run(inbox, { id: address, name: 'Hermes' }, stopping.signal);
    return { adapter, running, stop: async () => (stopping.abort(), running) };
  };
  try {
    await deliver(server.ports.lmtp, mailOf('old', 'was there before', { writtenAtMs: Date.now() - 7_200_000 }));
    let receiving = await receive();
    await until(async () => (await inbox.cursor.read('uid:INBOX')) !== undefined, 'a first look');
    const sentAt = performance.now();
    await deliver(server.ports.lmtp, mailOf('one', 'hello from Dovecot', { attachment: 'a small file' }));
    await until(() => inbox.events.length > 0, 'the mail');
    report('IDLE brings a mail, and not what lay there before', textsOf(inbox).join() === 'hello from Dovecot', `after ${Math.round(performance.now() - sentAt)} ms`);
    const [first] = inbox.events as readonly [InboundEvent];
    report('its sender is verified although LMTP adds headers above', first.sender.unverified === undefined, first.sender.unverified ?? 'dmarc');
    const ref = first.media[0];
    const file = ref && (await new Response((await receiving.adapter.media?.open(ref, never)) as ReadableStream<Uint8Array<ArrayBuffer>>).text());
    report('its file is fetched', file === 'a small file');
    report('both servers let us in', (await receiving.adapter.identify(never)).id === address);
    await receiving.adapter.send({ key: 'trial', text: '**Thanks.**', target: replyTarget(first) }, never);
    const answer = provider.sent()[0]?.raw ?? '';
    report('the answer goes out in its thread', /^In-Reply-To: <one@example\.org>/m.test(answer) && /^Auto-Submitted: auto-replied/m.test(answer));
    await receiving.stop();

    await deliver(server.ports.lmtp, mailOf('two', 'while we were away'));
    receiving = await receive();
    await until(() => inbox.events.length === 2, 'the missed mail');
    report('what came while nobody listened is fetched, once', inbox.offered.length === 2);
    await receiving.stop();

    const uidlist = join(folder, 'mail', address, 'dovecot-uidlist');
    const validity = (await readFile(uidlist, 'utf8')).split('\n')[0];
    // The number is the second in which the folder was made.
    await new Promise((resolve) => setTimeout(resolve, 1100));
    await run('sh', ['-c', `rm -f ${join(folder, 'mail', address)}/dovecot*`]);
    await deliver(server.ports.lmtp, mailOf('three', 'after the rebuild'));
    receiving = await receive();
    const before = /V(\d+)/.exec(validity ?? '')?.[1] ?? '';
    await until(async () => (await inbox.cursor.read('uid:INBOX'))?.startsWith(`${before}:`) === false, 'the rebuilt folder to be read');
    report('a folder that is numbered anew loses and doubles nothing', textsOf(inbox).join() === 'hello from Dovecot,while we were away,after the rebuild' && inbox.offered.length === 5 && lines.some((line) => line.includes('email.folder_renumbered')), `${inbox.events.length} events, ${inbox.offered.length} offered`);
    await receiving.stop();

    const stranger = await open({ ...options, password: 'wrong' });
    const refused = await stranger.identify(never).then(
      () => 'accepted',
      (error: { code?: string }) => error.code,
    );
    report('a wrong password is called one', refused === 'bad_credential', refused);
  } finally {
    await data[Symbol.asyncDispose]();
    await server.stop();
  }
};

if (userInfo().uid !== 0) throw new Error('Dovecot needs root to change users: run this as root, in a container.');
const folder = await mkdtemp(join(tmpdir(), 'hermes-email-trial-'));
try {
  console.log(`dovecot ${await install()}`);
  await trial(folder);
} finally {
  await rm(folder, { recursive: true, force: true });
}
