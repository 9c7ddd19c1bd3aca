import type { VNode } from 'preact';
import { CodeBlock } from './code-block.tsx';
import { Wing } from './icons.tsx';
import type { Session } from './session.ts';

const tries = ['What can you do?', 'What time is it?', 'Show me something long', 'markdown', '/help'];

const modelSetup = `model:
  provider: openai
  default: gpt-5-mini
  base_url: https://api.openai.com/v1`;

const telegramSetup = `TELEGRAM_BOT_TOKEN=your-token`;

/** What an empty conversation says: what to try, and how to go on from the demo. */
export const Welcome = ({ session, chat }: { readonly session: Session; readonly chat: string }): VNode => (
  <section class="welcome">
    <span class="mark">
      <Wing />
    </span>
    <h2>What shall we do?</h2>
    <p>Your agent answers here and in every other place you connect. Nothing you write gets lost, even when the connection does.</p>
    <div class="tries">
      {tries.map((text) => (
        <button key={text} type="button" class="choice" onClick={() => session.outbox.send({ chat, text, files: [] })}>
          {text}
        </button>
      ))}
    </div>
    <div class="setups">
      <details>
        <summary>Connect a real model</summary>
        <p>
          Until then a small built-in demo answers. Any server that speaks OpenAI's chat completions will do: put this into <code>~/.hermes/config.yaml</code>
        </p>
        <CodeBlock language="yaml" code={modelSetup} />
        <p>
          and its key into <code>~/.hermes/.env</code>. The gateway takes the change over while it runs.
        </p>
        <CodeBlock language="sh" code="OPENAI_API_KEY=your-key" />
      </details>
      <details>
        <summary>Talk to it on Telegram</summary>
        <p>
          Get a token from <b>@BotFather</b> and put it into <code>~/.hermes/.env</code>
        </p>
        <CodeBlock language="sh" code={telegramSetup} />
        <p>Then write to your bot. It does not know you yet and answers with a code; approve it here with <code>/pair approve CODE</code>.</p>
      </details>
    </div>
  </section>
);
