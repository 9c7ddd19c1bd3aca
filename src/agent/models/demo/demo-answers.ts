const tries = `**Try:**

- \`what time is it?\` calls a tool and uses its result
- \`show me something long\` streams a long answer
- \`markdown\` shows what formatted text looks like here
- \`echo anything you like\` says it back
- \`setup\` repeats how to connect a real model`;

/** How to leave the demo. The keys and variables are those of the `model` section and of the Telegram platform. */
export const setupText = `## Connect a real model

\`hermes setup\` asks a few questions and does it for you. By hand: OpenAI, Anthropic, OpenRouter and many more will do, and so will Ollama, LM Studio, llama.cpp or vLLM on your own machine.

1. In \`~/.hermes/config.yaml\`:

\`\`\`yaml
model:
  provider: openai
  default: gpt-5-mini                     # the model's name on that server
  base_url: https://api.openai.com/v1     # Ollama: http://127.0.0.1:11434/v1
\`\`\`

2. In \`~/.hermes/.env\` (a server on your own machine often needs no key):

\`\`\`sh
OPENAI_API_KEY=your-key
\`\`\`

3. Save and say hello. The change is taken over while the gateway runs, and this conversation goes on where it is.

## Add Telegram

1. Talk to [@BotFather](https://t.me/BotFather), send \`/newbot\`, and copy the token.
2. Put it into \`~/.hermes/.env\`:

\`\`\`sh
TELEGRAM_BOT_TOKEN=your-token
\`\`\`

3. Write to your bot. It does not know you yet and answers with a code; approve it here with \`/pair approve CODE\`. Changes to the files are taken over while the gateway runs.`;

export const introText = `# Hello, I am the demo model 👋

I am built into this gateway so that you can see it work before you connect anything. I run offline, cost nothing and have **no intelligence**: I recognise a few words and answer with prepared text. Everything around me is real, though: this conversation is stored, streamed and delivered exactly as it will be with a real model.

${tries}

${setupText}`;

export const againText = (said: string): string => `You said:

> ${said}

I am only the built-in demo model, so that is as far as I understand it. A real model takes a few lines of configuration; say \`setup\` to see them.

${tries}`;

export const markdownText = `# Markdown

Text can be **bold**, *italic*, ~~struck through~~ or \`code\`, and it may carry a [link](https://example.com).

## Lists

- bread
- butter
  - salted
  - unsalted

1. first
2. second
3. third

> A quotation stands apart from the rest.

| place | streams | buttons |
|---|---|---|
| web page | yes | yes |
| Telegram | yes | yes |

\`\`\`ts
const greet = (name: string): string => \`Hello, \${name}!\`;
\`\`\``;

export const noToolText = `I would look at the clock now, but the tool \`current_time\` is not switched on here.

${tries}`;

export const callingText = 'Let me look at the clock.';

const quote = (text: string): string =>
  text
    .trim()
    .split('\n')
    .map((line) => `> ${line}`)
    .join('\n');

export const toolText = (result: string): string => `The tool \`current_time\` answered:

${quote(result.slice(0, 1000))}

That was a complete round: I asked for the tool, the gateway stored my request, ran the tool, stored its result and called me again with it. Had the gateway stopped in between, it would have gone on from there.`;

export const longText = `# What happens to a message here

This answer is long on purpose: it arrives in small pieces, so that you can watch how a reply grows. On this page it is drawn as it comes; in a chat app the same reply is a message that is edited while it grows and cut where the app's limit is.

## 1. It is stored first

A message is written to the database before the platform is told that we have it. If the power fails in that very moment, the platform sends it again, and because every message has a key of its own, the second copy is recognised and dropped. Nothing is lost, and nothing is answered twice.

## 2. It waits for its turn

Each conversation is worked on by one turn at a time. While I answer you here, other people in other chats are answered as well; but two answers in *this* conversation never get in each other's way. What you write meanwhile is kept in order. You decide what it does:

- **interrupt**: the running answer stops, and your new message is next
- **queue**: the running answer is finished first
- **steer**: your words are handed to the running turn as soon as it can read them

Commands never wait. \`/stop\` works while a model is thinking, a tool is hanging or a server has gone silent, and \`/status\` tells you what is going on.

## 3. The model and its tools

The model reads the conversation and answers, or it asks for a tool. Its request is stored *before* the tool runs, and the result right after it. So the gateway can be stopped at any point:

| the gateway stops | what happens after the next start |
|---|---|
| before the model answered | the model is asked again |
| after the model asked for a tool | the call is reported as interrupted, not run twice |
| after the tool's result was stored | the model goes on from that result |
| after the answer was stored | the answer is delivered |

## 4. The answer leaves through one door

Every reply is a row in an outbox. One sender takes the rows in order for each chat, respects the limits of the platform and remembers which messages were really sent:

\`\`\`text
conversation ──▶ turn ──▶ outbox ──▶ sender ──▶ Telegram
                                           └──▶ web page
\`\`\`

When an answer from the platform is lost, the row is neither "sent" nor "failed". It is *unknown*, and the gateway finds out where it can instead of guessing.

## 5. You can always ask why

1. \`hermes trace <id>\` prints the life of one message, from its arrival to its delivery.
2. \`hermes status\` shows each account, when it last heard something, what waits and what went wrong.
3. \`hermes sessions search\` finds what was said, in any script.

## 6. And the model?

The model is the part you choose. It can be a large one in a data centre or a small one on the computer under your desk. Whichever it is, it sits behind the same seam as I do:

\`\`\`ts
interface ModelProvider {
  readonly name: string;
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent>;
}
\`\`\`

I am the smallest possible implementation of it: no network, no key, no intelligence. That also makes me the most reliable one.

---

That was the long answer. Say \`setup\` to replace me with somebody cleverer.`;
