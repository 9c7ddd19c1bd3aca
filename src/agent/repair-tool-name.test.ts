import assert from 'node:assert/strict';
import { test } from 'node:test';
import { repairToolName } from './repair-tool-name.ts';

const known = ['read_file', 'write_file', 'terminal', 'mcp_a_get', 'mcp-a-get'];

test('a name that can only mean one tool means that tool', () => {
  for (const name of ['readFile', 'Read_File', 'READ-FILE', 'functions.read_file', 'default_api:read_file', 'tools/readfile']) assert.equal(repairToolName(name, known), 'read_file', name);
});

test('nothing is guessed', () => {
  for (const name of ['read_files', 'reed_file', 'file', '', '...', 'mcp.a.get', 'mcp_a_get_']) assert.equal(repairToolName(name, known), undefined, name);
});
