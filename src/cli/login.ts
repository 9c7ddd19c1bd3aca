import { Command } from 'commander';
import { newLogins } from '../http/logins.ts';
import { reachableUrl } from '../http/reachable-url.ts';
import { systemClock } from '../lib/clock.ts';
import { accountData } from '../store/accounts/account-data.ts';
import { requireConfig } from './configuration/settings.ts';
import type { Terminal } from './environment.ts';
import { withStore } from './home/open-home.ts';

export const loginCommand = (terminal: Terminal): Command =>
  new Command('login')
    .description('Print a link that logs a browser in to the page, once, within ten minutes')
    .addHelpText('after', '\nExample:\n  hermes login')
    .action(async () => {
      const { http } = (await requireConfig(terminal)).sections;
      const link = await withStore(terminal, (store) => newLogins({ store: accountData(store, 'http'), clock: systemClock, token: http.token }).newLink());
      terminal.write(`${reachableUrl(http.host, http.port)}/login#${link}\n`);
    });
