import { capabilities } from './conformance-capabilities.ts';
import { connecting } from './conformance-connecting.ts';
import { failures } from './conformance-failures.ts';
import type { Clause } from './conformance-bench.ts';
import { messages } from './conformance-messages.ts';

/** What every platform promises, by name. A platform that cannot keep a promise says why in its `exceptions`, under the same name. */
export const clauses: Readonly<Record<string, Clause>> = { ...connecting, ...messages, ...capabilities, ...failures };
