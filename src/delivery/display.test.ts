import assert from 'node:assert/strict';
import { test } from 'node:test';
import { displayOf, displaySection } from './display.ts';

const parse = (value: unknown) => displaySection.schema.parse(value);
const at = (tier: 'high' | 'medium' | 'low' | 'minimal', quietTools = false) => ({ name: 'somewhere', display: { tier, quietTools } });

test('a platform that bears little shows little', () => {
  const none = parse({});
  assert.equal(displayOf(none, at('high')).tool_progress, 'all');
  assert.equal(displayOf(none, at('high', true)).tool_progress, 'off');
  assert.equal(displayOf(none, at('medium')).tool_progress, 'new');
  assert.deepEqual([displayOf(none, at('low')).streaming, displayOf(none, at('low')).interim_assistant_messages], [false, false]);
  assert.equal(displayOf(none, at('minimal')).tool_preview_length, 0);
});

test('what is set for the platform wins over what is set for all, and that over the platform', () => {
  const options = parse({ tool_progress: 'verbose', show_reasoning: true, platforms: { somewhere: { tool_progress: 'new' }, elsewhere: { show_reasoning: false } } });
  const display = displayOf(options, at('low'));
  assert.equal(display.tool_progress, 'new');
  assert.equal(display.show_reasoning, true);
  assert.equal(display.streaming, false);
});

test('a footer is off until somebody wants it', () => {
  assert.equal(displayOf(parse({}), at('high')).runtime_footer.enabled, false);
  assert.deepEqual(displayOf(parse({ runtime_footer: { enabled: true } }), at('high')).runtime_footer.fields, ['model', 'context_pct', 'cwd']);
});
