import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { askToPair } from '../src/access/pairing.ts';
import { accountData } from '../src/store/accounts/account-data.ts';
import { saveStatus } from '../src/store/accounts/accounts.ts';
import { isPaired } from '../src/store/accounts/pairing.ts';
import { launchBrowser } from './support/browser.ts';
import { freePort } from './support/free-port.ts';
import { newPageScript, pieces } from './support/page-script.ts';
import type { PageScript } from './support/page-script.ts';
import { startWebGateway } from './support/web-gateway.ts';
import type { WebGateway } from './support/web-gateway.ts';
import { until } from './support/whole.ts';

let folder: string;
let script: PageScript;
let browser: Browser;
let gateway: WebGateway;
const strangeRequests: string[] = [];
const problems: string[] = [];

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hermes-browser-'));
  script = newPageScript(folder);
  [browser, gateway] = await Promise.all([launchBrowser(), startWebGateway({ folder, script: script.script, port: await freePort() })]);
});

after(async () => {
  await browser.close();
  await gateway[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

const openPage = async (context: BrowserContext, url: string): Promise<Page> => {
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  page.on('request', (request) => {
    if (!request.url().startsWith(gateway.url) && !request.url().startsWith('data:') && !request.url().startsWith('blob:')) strangeRequests.push(request.url());
  });
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) problems.push(message.text());
  });
  await page.goto(url);
  return page;
};

/** A logged-in browser with an empty conversation in front. */
const withPage = async (work: (page: Page, context: BrowserContext) => Promise<void>, options: BrowserContextOptions = {}): Promise<void> => {
  const context = await browser.newContext({ viewport: { width: 1000, height: 700 }, ...options });
  try {
    const page = await openPage(context, await gateway.loginLink());
    await page.getByRole('textbox', { name: 'Message' }).waitFor();
    await page.keyboard.press('Control+Shift+O');
    await page.getByText('What shall we do?').waitFor();
    await work(page, context);
  } finally {
    await context.close();
  }
};

const say = async (page: Page, text: string): Promise<void> => {
  await page.getByRole('textbox', { name: 'Message' }).fill(text);
  await page.keyboard.press('Enter');
};

const answers = (page: Page): Promise<readonly string[]> => page.locator('.from-agent .body').allInnerTexts();
const own = (page: Page): Promise<readonly string[]> => page.locator('.from-owner .body').allInnerTexts();
const seen = (page: Page, text: string): Promise<void> => page.locator('.message .body', { hasText: text }).first().waitFor();

describe('the page in a real browser', { concurrency: false }, () => {
  test('a login link lets one browser in, once, and leaves no trace in the address', async () => {
    const context = await browser.newContext();
    const link = await gateway.loginLink();
    const page = await openPage(context, link);
    await page.getByRole('textbox', { name: 'Message' }).waitFor();
    assert.equal(page.url().includes(link.split('#')[1] ?? ''), false);
    assert.equal(await page.evaluate(() => document.cookie), '');
    const other = await browser.newContext();
    const refused = await openPage(other, link);
    await refused.getByRole('alert').getByText('used, too old or wrong').waitFor();
    assert.equal(await refused.evaluate(async () => (await fetch('/api/web/chats')).status), 401);
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.getByRole('heading', { name: 'Log in' }).waitFor();
    await Promise.all([context.close(), other.close()]);
  });

  test('a message is answered, and the conversation gets its first words as a name', () =>
    withPage(async (page) => {
      await say(page, 'Hello **you**');
      await seen(page, 'You said: Hello you');
      await page.locator('.outgoing').waitFor({ state: 'detached' });
      assert.deepEqual(await own(page), ['Hello **you**']);
      assert.deepEqual(await answers(page), ['You said: Hello you']);
      await page.getByRole('link', { name: /^Hello you/ }).first().waitFor();
      await page.waitForFunction(() => document.title === 'Hello you · Hermes');
      await page.reload();
      await seen(page, 'You said: Hello you');
      assert.deepEqual(await own(page), ['Hello **you**']);
    }));

  test('an answer is seen growing, and its final text is shown once and whole', () =>
    withPage(async (page) => {
      const gates = pieces.map(() => Promise.withResolvers<void>());
      let asked = 0;
      script.mayGrow = () => gates[(asked += 1) - 1]?.promise ?? assert.fail('there are no more pieces');
      await say(page, 'stream');
      for (const [i, gate] of gates.slice(0, -1).entries()) {
        gate.resolve();
        const text = pieces.slice(0, i + 1).join('').replaceAll('*', '');
        await page.waitForFunction((expected) => document.querySelector('.from-agent .body')?.textContent.replaceAll('*', '') === expected, text);
        assert.equal(await page.locator('.growing').count(), i === 0 ? 0 : 1, text);
      }
      gates.at(-1)?.resolve();
      await page.waitForFunction(() => document.querySelector('.growing') === null);
      assert.deepEqual(await answers(page), ['The quick brown fox jumps over the lazy dog.']);
      assert.equal(await page.locator('.from-agent strong').innerText(), 'brown');
    }));

  test('a second tab stays in step, also with what is still growing', () =>
    withPage(async (page, context) => {
      const second = await openPage(context, page.url());
      const rest = Promise.withResolvers<void>();
      let count = 0;
      script.mayGrow = () => ((count += 1) <= 2 ? Promise.resolve() : rest.promise);
      await say(page, 'stream');
      await seen(second, 'The quick');
      assert.equal(await second.locator('.growing').count(), 1);
      rest.resolve();
      await seen(second, 'lazy dog.');
      await say(second, 'from the second tab');
      await seen(page, 'You said: from the second tab');
      assert.deepEqual(await own(page), await own(second));
      assert.deepEqual(await answers(page), await answers(second));
    }));

  test('after a restart of the gateway the page catches up: nothing lost, nothing twice', () =>
    withPage(async (page) => {
      await say(page, 'before');
      await seen(page, 'You said: before');
      const chat = page.url().split('#c/')[1] ?? '';
      const port = Number(new URL(gateway.url).port);
      await gateway[Symbol.asyncDispose]();
      await say(page, 'meanwhile');
      await page.getByText('Sending…').waitFor();
      await page.getByText('cannot be reached').first().waitFor();
      gateway = await startWebGateway({ folder, script: script.script, port });
      const target = { account: 'web', chatId: chat, chatType: 'dm' } as const;
      await gateway.adapter.send({ key: 'cron:1', target, text: 'News from the night' }, new AbortController().signal);
      await seen(page, 'You said: meanwhile');
      await seen(page, 'News from the night');
      assert.deepEqual(await own(page), ['before', 'meanwhile']);
      assert.deepEqual((await answers(page)).toSorted(), ['News from the night', 'You said: before', 'You said: meanwhile']);
      assert.equal(gateway.events.filter((event) => event.text === 'meanwhile').length, 1);
    }));

  test('what could not be sent survives a reload, and so does a draft', () =>
    withPage(async (page) => {
      await page.route('**/messages', (route) => (route.request().method() === 'POST' ? route.abort() : route.continue()));
      await say(page, 'do not lose me');
      await page.getByText('Sending…').waitFor();
      await page.getByRole('textbox', { name: 'Message' }).fill('half a thought');
      await page.unrouteAll();
      await page.reload();
      await seen(page, 'You said: do not lose me');
      assert.equal(await page.getByRole('textbox', { name: 'Message' }).inputValue(), 'half a thought');
      assert.deepEqual(await own(page), ['do not lose me']);
    }));

  test('nothing an answer says becomes a script, a request or a foreign link', () =>
    withPage(async (page) => {
      await say(page, 'attack');
      await seen(page, 'press me');
      const inside = page.locator('.from-agent .body');
      for (const element of await inside.getByText('press me').all()) await element.click();
      assert.equal(await page.evaluate(() => 'attacked' in window), false);
      assert.equal(await inside.locator('script, img, iframe, object, embed, [onerror], [onload], [style]').count(), 0);
      const links = await inside.locator('a').evaluateAll((found) => found.map((link) => [link.getAttribute('href'), link.getAttribute('rel')]));
      assert.deepEqual(links, [['https://tracker.example/pixel.png', 'noopener noreferrer nofollow']]);
      assert.match((await answers(page))[0] ?? '', /<script>window\.attacked = 1<\/script>/);
    }));

  test('a file goes up, reaches the agent, and comes down as it was', () =>
    withPage(async (page) => {
      const text = `Grüße, ${'x'.repeat(200_000)}`;
      await page.locator('input[type=file]').setInputFiles({ name: 'notiz ä.txt', mimeType: 'text/plain', buffer: Buffer.from(text) });
      await page.getByText('notiz ä.txt').waitFor();
      await page.getByRole('button', { name: 'Send' }).click();
      await seen(page, 'Got notiz ä.txt');
      const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: /back\.txt/ }).click()]);
      assert.equal(download.suggestedFilename(), 'back.txt');
      assert.equal(await readFile(await download.path(), 'utf8'), text);
    }));

  test('a dropped picture is shown', () =>
    withPage(async (page) => {
      const transfer = await page.evaluateHandle(() => {
        const pixel = Uint8Array.from(atob('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='), (char) => char.charCodeAt(0));
        const data = new DataTransfer();
        data.items.add(new File([pixel], 'pixel.png', { type: 'image/png' }));
        return data;
      });
      await page.dispatchEvent('main', 'dragover', { dataTransfer: transfer });
      await page.getByText('Drop files to attach them').waitFor();
      await page.dispatchEvent('main', 'drop', { dataTransfer: transfer });
      await page.getByText('pixel.png').waitFor();
      await say(page, '');
      await page.locator('.from-owner img').waitFor();
      await page.waitForFunction(() => document.querySelector<HTMLImageElement>('.from-owner img')?.naturalWidth === 1);
    }));

  test('a message that is sent while its file is on the way goes once, with the file', () =>
    withPage(async (page) => {
      const arriving = Promise.withResolvers<void>();
      await page.route('**/api/web/files**', async (route) => {
        await arriving.promise;
        await route.continue();
      });
      await page.locator('input[type=file]').setInputFiles({ name: 'slow.txt', mimeType: 'text/plain', buffer: Buffer.from('slow') });
      await page.getByRole('progressbar', { name: 'Sending slow.txt' }).waitFor();
      await say(page, 'here it comes');
      assert.deepEqual(await own(page), []);
      arriving.resolve();
      await page.locator('.from-owner', { hasText: 'slow.txt' }).waitFor();
      assert.equal((await own(page)).length, 1);
    }));

  test('whoever asks to be let in appears under People and is let in by a click', () =>
    withPage(async (page) => {
      await gateway.store.write((tx) => askToPair(tx, { account: 'telegram', userId: '1001', userName: '<b>Anna</b>' }));
      await page.getByRole('button', { name: 'People' }).click();
      const dialog = page.getByRole('dialog', { name: 'People' });
      await dialog.getByText('<b>Anna</b> (1001)').waitFor();
      await dialog.getByRole('button', { name: 'Let in' }).click();
      await dialog.getByText('Nobody is asking').waitFor();
      assert.equal(await gateway.store.read((db) => isPaired(db, 'telegram', ['1001'])), true);
      await dialog.getByRole('button', { name: 'Invite somebody' }).click();
      assert.match(await dialog.locator('.invitation code').innerText(), /^[A-Z0-9]{8}$/);
      await dialog.getByRole('button', { name: 'Put out' }).click();
      await dialog.getByText('Nobody yet').waitFor();
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
    }));

  test('a device that waits to be verified shows its emoji under People, and the owner says whether they are the same', () =>
    withPage(async (page) => {
      const facts = { identity: null, name: null, errorCode: null, error: null, attempts: 0, connectedAtMs: null, lastEventAtMs: null, lastAliveAtMs: null, lastCallAtMs: null, nextTryAtMs: null };
      await gateway.store.write((tx) => saveStatus(tx, { account: 'matrix', state: 'connected', ...facts }));
      const data = accountData(gateway.store, 'matrix');
      const check = { id: 'flow', userId: '@anna:example.org', state: 'compare', emoji: [{ symbol: '🐶', name: 'Dog' }, { symbol: '🌙', name: 'Moon' }] };
      await data.set('check:flow', JSON.stringify({ atMs: Date.now(), check }));
      await page.getByRole('button', { name: 'People' }).click();
      const dialog = page.getByRole('dialog', { name: 'People' });
      await dialog.getByText('🐶 Dog  🌙 Moon').waitFor();
      await dialog.getByRole('button', { name: 'They match' }).click();
      await until(async () => (await data.list('check-wish:')).length === 1, 'the answer to arrive');
      await data.set('check:flow', JSON.stringify({ atMs: Date.now(), check: { ...check, state: 'done', emoji: [] } }));
      await dialog.getByText('matrix, verified').waitFor();
      assert.match((await data.list('check-wish:'))[0]?.value ?? '', /"id":"flow","same":true/);
    }));

  test('everything can be done with the keyboard alone', () =>
    withPage(async (page) => {
      await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
      await page.keyboard.press('/');
      await page.getByRole('option', { name: /\/help/ }).waitFor();
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Enter');
      assert.equal(await page.getByRole('textbox', { name: 'Message' }).inputValue(), '/status ');
      await page.keyboard.press('Control+A');
      await page.keyboard.type('one');
      await page.keyboard.press('Shift+Enter');
      await page.keyboard.type('two');
      await page.keyboard.press('Enter');
      await seen(page, 'You said: one');
      assert.deepEqual(await own(page), ['one\ntwo']);
      await page.keyboard.type('choose');
      await page.keyboard.press('Enter');
      await page.getByRole('button', { name: 'Yes' }).focus();
      await page.keyboard.press('Space');
      await seen(page, 'Pressed yes');
      assert.equal(await page.getByRole('button', { name: 'No', exact: true }).getAttribute('aria-disabled'), 'true');
      await page.keyboard.press('/');
      await page.keyboard.press('Control+A');
      await page.keyboard.type('hang');
      await page.keyboard.press('Enter');
      await page.getByRole('button', { name: 'Stop' }).waitFor();
      await page.keyboard.press('Escape');
      await seen(page, 'You said: /stop');
    }));

  test('at the width of a phone nothing is cut off or needs scrolling sideways', () =>
    withPage(
      async (page) => {
        await say(page, 'wide');
        await seen(page, 'wordword');
        const overflow = await page.evaluate(() => [...document.querySelectorAll('body, main, .scroller, .stream, .composer')].filter((box) => box.scrollWidth > box.clientWidth + 1).map((box) => box.className || box.tagName));
        assert.deepEqual(overflow, []);
        assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 360);
        await page.getByRole('button', { name: 'Conversations' }).click();
        await page.getByRole('navigation').getByRole('button', { name: 'New conversation' }).click();
        await page.getByText('What shall we do?').waitFor();
        await page.getByRole('navigation').waitFor({ state: 'hidden' });
      },
      { viewport: { width: 360, height: 640 }, hasTouch: true, isMobile: true },
    ));

  test('the theme follows the system until another one is chosen, which is kept', () =>
    withPage(
      async (page) => {
        const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
        assert.equal(await ground(), 'rgb(21, 23, 26)');
        await page.emulateMedia({ colorScheme: 'light' });
        assert.equal(await ground(), 'rgb(251, 250, 248)');
        await page.getByRole('button', { name: 'Use the dark theme' }).click();
        await page.reload();
        assert.equal(await ground(), 'rgb(21, 23, 26)');
      },
      { colorScheme: 'dark' },
    ));

  test('a person who reads further up is not pulled down, and can jump to the end', () =>
    withPage(async (page) => {
      for (let i = 0; i < 12; i += 1) await say(page, `message ${i}\n`.repeat(5));
      await page.waitForFunction(() => document.querySelectorAll('.from-agent').length === 12);
      await page.locator('.scroller').evaluate((box) => box.scrollTo({ top: 0 }));
      await page.getByRole('button', { name: 'Latest messages' }).waitFor();
      const target = { account: 'web', chatId: page.url().split('#c/')[1] ?? '', chatType: 'dm' } as const;
      await gateway.adapter.send({ key: 'later', target, text: 'Much later' }, new AbortController().signal);
      await seen(page, 'Much later');
      assert.equal(await page.locator('.scroller').evaluate((box) => box.scrollTop), 0);
      await page.getByRole('button', { name: 'Latest messages' }).click();
      await page.waitForFunction(() => [...document.querySelectorAll('.scroller')].every((box) => box.scrollHeight - box.scrollTop - box.clientHeight < 2));
    }));

  test('the page asked nobody but the gateway for anything, and nothing failed in it', () => {
    assert.deepEqual(strangeRequests, []);
    assert.deepEqual(problems, []);
  });
});
