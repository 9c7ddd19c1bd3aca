import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as mime from 'postal-mime';
import vectors from '../../../test/vectors/email.json' with { type: 'json' };
import { patientClock } from '../../lib/patient-clock.test-support.ts';
import { whyAutomated } from './automated.ts';
import { htmlToText } from './html-text.ts';
import { decodeHeader, readAddresses } from './mail.ts';
import { proveSender } from './sender-proof.ts';

interface Input {
  readonly authentication_results?: readonly string[];
  readonly trusted_server?: string;
  readonly from?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly header?: string;
  readonly html?: string;
}

const never = new AbortController().signal;

const answers: Readonly<Record<string, (input: Input) => unknown>> = {
  auth: ({ authentication_results: results = [], from = '', trusted_server: server = '' }) => ({
    authenticated: proveSender({ headers: results.map((value) => ({ key: 'authentication-results', value })), from }, server === '' ? [] : [server]).verified,
  }),
  automated: ({ from = '', headers = {} }) => {
    const lower = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
    return { ignored: whyAutomated({ from, header: (name) => lower.get(name) }, []) !== undefined };
  },
  address: ({ header = '' }) => readAddresses(mime, header)[0]?.address,
  header: ({ header = '' }) => decodeHeader(mime, header),
  html: ({ html = '' }) => htmlToText(html, { whole: false, clock: patientClock }, never),
};

for (const { id, in: input, out } of vectors.cases) {
  test(`the vector ${id} is met`, async () => {
    const answer = answers[id.split('-', 1)[0] ?? ''] ?? assert.fail('nothing answers it');
    assert.deepEqual(await answer(input as Input), out);
  });
}
