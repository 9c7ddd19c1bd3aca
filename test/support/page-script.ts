import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { replyTarget } from '../../src/core/message.ts';
import type { Script } from './web-gateway.ts';

const attacks = [
  '<script>window.attacked = 1</script>',
  '<img src=x onerror="window.attacked = 2">',
  '[press me](javascript:window.attacked=3)',
  '[press me](java\nscript:window.attacked=4)',
  '<javascript:window.attacked=5>',
  '[data](data:text/html,<script>window.attacked=6</script>)',
  '![picture](https://tracker.example/pixel.png)',
  '```html"><img src=x onerror=window.attacked=7>\n<svg onload=window.attacked=8>\n```',
  '`<iframe srcdoc="<script>parent.attacked=9</script>">`',
].join('\n\n');

const wide = `${'word'.repeat(80)}\n\n\`\`\`sh\n${'echo long; '.repeat(40)}\n\`\`\`\n\n|${' column |'.repeat(20)}\n|${'---|'.repeat(20)}\n|${' value |'.repeat(20)}`;

/** Of the answer to `stream`. */
export const pieces = ['The', ' quick', ' **brown', '** fox', ' jumps', ' over', ' the', ' lazy', ' dog', '.'];

export interface PageScript {
  readonly script: Script;
  /** Asked before each piece of an answer that grows. */
  mayGrow(): Promise<void>;
}

/** An agent that answers what the tests of the page want to see; files that it sends back are made in the folder. */
export const newPageScript = (folder: string): PageScript => {
  const page: PageScript = { script: (event, agent) => answer(event, agent), mayGrow: () => Promise.resolve() };
  const answer: Script = async (event, agent) => {
    const [word] = event.text.split(' ');
    if (event.kind === 'button') await agent.reply(event, `Pressed ${event.button?.data}`);
    else if (word === 'stream') await agent.stream(event, pieces, () => page.mayGrow());
    else if (word === 'hang') await agent.adapter.typing?.show(replyTarget(event), agent.signal);
    else if (word === 'attack') await agent.reply(event, attacks);
    else if (word === 'wide') await agent.reply(event, wide);
    else if (word === 'choose') await agent.reply(event, 'Shall I?', { choices: [[{ label: 'Yes', data: 'yes' }, { label: 'No', data: 'no' }]] });
    else if (event.media[0] !== undefined) {
      const bytes = await new Response(await agent.adapter.media?.open(event.media[0], agent.signal)).bytes();
      const path = join(folder, 'back.txt');
      await writeFile(path, bytes);
      await agent.reply(event, `Got ${event.media[0].name}`, { media: [{ kind: 'document', path, mime: 'text/plain', name: 'back.txt' }] });
    } else await agent.reply(event, `You said: ${event.text}`);
  };
  return page;
};
