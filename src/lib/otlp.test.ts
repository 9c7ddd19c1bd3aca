import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exportTarget } from './otlp.ts';

const target = (endpoint: string, headers: Readonly<Record<string, string>> = {}): ReturnType<typeof exportTarget> => exportTarget({ endpoint, headers });

test('spans go to /v1/traces of the collector, and a query stays behind it', () => {
  assert.equal(target('http://127.0.0.1:4318').url, 'http://127.0.0.1:4318/v1/traces');
  assert.equal(target('https://c.example/otlp//').url, 'https://c.example/otlp/v1/traces');
  assert.equal(target('https://c.example/otlp?token=a%2Bb').url, 'https://c.example/otlp/v1/traces?token=a%2Bb');
});

test('a user and password are sent as a header, unless one is configured', () => {
  const { url, headers } = target('https://ada:p%40ss%zz@c.example/');
  assert.equal(url, 'https://c.example/v1/traces');
  assert.equal(headers['authorization'], `Basic ${Buffer.from('ada:p%40ss%zz').toString('base64')}`);
  assert.equal(target('https://ada:p%40ss@c.example/').headers['authorization'], `Basic ${Buffer.from('ada:p@ss').toString('base64')}`);
  assert.equal(target('https://ada:x@c.example/', { authorization: 'Bearer y' }).headers['authorization'], 'Bearer y');
  assert.equal(target('https://c.example/').headers['authorization'], undefined);
});
