import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AuditedAct } from '../../lib/audit-log.ts';
import { capturingLogger } from '../../lib/logger.ts';
import { validSample } from '../../config/sample-config.ts';
import { reportConfig } from './report-config.ts';

test('a configuration that was migrated at the start is in the log and in the log of acts; one that was not is in neither', () => {
  const { log, lines } = capturingLogger();
  const acts: AuditedAct[] = [];
  const at = { log, audit: (act: AuditedAct): void => void acts.push(act) };
  const startable = { type: 'current', config: { ...validSample(''), warnings: [] } } as const;
  reportConfig(at, startable, { type: 'nothing' });
  assert.deepEqual([lines, acts], [[], []]);
  reportConfig(at, startable, { type: 'migrated', moved: [{ from: ['a', 'b'], to: ['c'] }], diff: [], kept: '/x' });
  assert.match(lines.join(''), /config\.migrated/);
  assert.deepEqual(acts, [{ by: 'the gateway', act: 'config migrate', subject: 'a.b -> c' }]);
});
