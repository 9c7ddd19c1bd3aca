import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commentKey, editYaml, listAt, parseValue } from './edit-yaml.ts';

const set = (text: string, path: string, value: string, isText = false): string => {
  const edited = editYaml(text, path.split('.'), parseValue(value, isText));
  assert.ok(edited.ok, edited.ok ? '' : edited.message);
  return edited.text;
};
const unset = (text: string, path: string): string => {
  const edited = editYaml(text, path.split('.'), undefined);
  assert.ok(edited.ok, edited.ok ? '' : edited.message);
  return edited.text;
};
const refusal = (text: string, path: string, value: string | undefined): string => {
  const edited = editYaml(text, path.split('.'), value === undefined ? undefined : parseValue(value, false));
  assert.ok(!edited.ok);
  return edited.message;
};

const commented = `# My gateway
model:
  provider: openai # for now
  # the big one
  default: some-model

# network
http: { host: 127.0.0.1, port: 8642 } # only here
platforms:
  telegram:
    token: \${TOKEN} # from .env
    allowed_users:
      - 1 # me
      - 2

# the end
`;

test('an edit changes its own line and keeps comments, order, blank lines and style', () => {
  assert.equal(set(commented, 'model.default', 'other'), commented.replace('some-model', 'other'));
  assert.equal(set(commented, 'model.provider', 'demo'), commented.replace('openai #', 'demo #'));
  assert.equal(set(commented, 'http.port', '1'), commented.replace('8642', '1'));
  assert.equal(set(commented, 'platforms.telegram.enabled', 'true'), commented.replace('      - 2\n', '      - 2\n    enabled: true\n'));
  assert.equal(unset(commented, 'platforms.telegram.token'), commented.replace('    token: ${TOKEN} # from .env\n', ''));
  assert.equal(set(commented, 'platforms.telegram.allowed_users.0', '9'), commented.replace('- 1 # me', '- 9'));
});

test('the indentation, the brackets and the line ends of the file are kept', () => {
  for (const text of ['model:\n    default: a\nhttp:\n    limits:\n        x: [1, 2]\n', 'model:\n  default: a\nlist:\n- 1\n- {x: 3}\n', 'model: { default: a }\nlist:\n  - [ 1, 2 ]\n']) {
    assert.equal(set(text, 'model.default', 'b'), text.replace('default: a', 'default: b'));
  }
  assert.equal(set('a:\r\n  b: 1 # x\r\n  c: 2\r\n', 'a.b', '3'), 'a:\r\n  b: 3 # x\r\n  c: 2\r\n');
});

test('numbers stay as they were written, for many are really ids', () => {
  const text = 'ids: [1234567890123456789, 0049123, 9007199254740993] # mine\n1234567890123456789: +1\nx: 1e3\ny: 0x1F\nz: 1.50\nroom: 1234567890123456789\na: b\n';
  assert.equal(set(text, 'a', 'c'), text.replace('a: b', 'a: c'));
  assert.equal(set(text, 'ids.-', '1'), text.replace('3] #', '3, 1] #'));
  assert.equal(set(text, 'ids.-', '1234567890123456788'), text.replace('3] #', '3, "1234567890123456788"] #'));
  assert.equal(set(text, 'room.-', '1'), text.replace('room: 1234567890123456789', 'room:\n  - 1234567890123456789\n  - 1'));
  assert.deepEqual(listAt(text, ['ids']), ['1234567890123456789', '0049123', '9007199254740993']);
  assert.equal(commentKey(text, ['a'], { comment: 'why', apart: false }), text.replace('a: b', '# why\na: b'));
});

test('references without quotes survive in flow mappings', () => {
  const text = 'model: { api_key: ${KEY}, default: "${X:-a,b}" }\n';
  assert.equal(set(text, 'model.provider', 'demo'), 'model: { api_key: ${KEY}, default: "${X:-a,b}", provider: demo }\n');
});

test('a file is begun, and missing or empty mappings are made on the way', () => {
  assert.equal(set('', 'http.port', '1'), 'http:\n  port: 1\n');
  assert.equal(set('# only a comment\n', 'a', '1'), '# only a comment\n\na: 1\n');
  assert.equal(set('platforms:\n  telegram:\n', 'platforms.telegram.enabled', 'true'), 'platforms:\n  telegram:\n    enabled: true\n');
});

test('values are YAML, or the bare text where they are not, or text where text is wanted', () => {
  assert.equal(set('', 'a', '[x, 2]'), 'a: [ x, 2 ]\n');
  assert.equal(set('', 'a', '{ b: 1 }'), 'a: { b: 1 }\n');
  assert.equal(set('', 'a', 'true'), 'a: true\n');
  assert.equal(set('', 'a', 'true', true), 'a: "true"\n');
  assert.equal(set('', 'a', '4.10', true), 'a: "4.10"\n');
  assert.equal(set('', 'a', '*'), 'a: "*"\n');
  assert.equal(set('', 'a', '@me'), 'a: "@me"\n');
  assert.equal(set('', 'a', '1234567890123456789'), 'a: "1234567890123456789"\n');
});

test('what is removed leaves no empty mapping behind', () => {
  assert.equal(unset('a:\n  b:\n    c: 1\nd: 2\n', 'a.b.c'), 'd: 2\n');
  assert.equal(unset('a:\n  b: 1\n', 'a.b'), '');
  assert.equal(unset('# about the file\na: 1\n# about b\nb: 2\n', 'a'), '# about the file\n\n# about b\nb: 2\n');
});

test('an entry of a list is removed with its comment, and a list without entries is none', () => {
  const text = 'routes:\n  # the team\n  - match: { chat_id: 1 } # one\n    agent: a\n  # support\n  - match: { chat_id: 2 }\n    agent: b\n  # the rest\n  - { match: { chat_id: 3 }, agent: a }\n';
  assert.equal(unset(text, 'routes.1'), text.replace('  # support\n  - match: { chat_id: 2 }\n    agent: b\n', ''));
  assert.equal(unset(text, 'routes.2'), text.replace('  # the rest\n  - { match: { chat_id: 3 }, agent: a }\n', ''));
  assert.equal(unset('a: 1\nroutes: [{ agent: a }]\n', 'routes.0'), 'a: 1\n');
  assert.equal(unset('a: [1, 2, 3]\n', 'a.0'), 'a: [2, 3]\n');
});

test('an entry is added behind the others, in the style of the list, which is made where there is none', () => {
  assert.equal(set('a: [1, 2]\n', 'a.-', '3'), 'a: [1, 2, 3]\n');
  assert.equal(set('# why\na:\n  - x # one\nb: 1\n', 'a.-', 'true', true), '# why\na:\n  - x # one\n  - "true"\nb: 1\n');
  assert.equal(set('b: 1\n', 'a.-', 'x'), 'b: 1\na:\n  - x\n');
  assert.equal(set('a:\n', 'a.-.b', '1'), 'a:\n  - b: 1\n');
  assert.equal(set('a: 1\n', 'a.-', '2'), 'a:\n  - 1\n  - 2\n');
  assert.equal(set('a: x, y\n', 'a.-', 'z'), 'a:\n  - x\n  - y\n  - z\n');
  assert.equal(set('a: [1, 2]\n', 'a', '3'), 'a: [3]\n');
  assert.equal(set('a: [1, 2]\n', 'a', '3, 4'), 'a: ["3", "4"]\n');
  assert.match(refusal('a: [1]\n', 'a.-', undefined), /not set/);
});

test('what cannot be edited is refused', () => {
  assert.match(refusal('a: 1\n', 'b', undefined), /not set/);
  for (const path of ['a.1', 'a.-1', 'a.x', 'a.']) assert.match(refusal('a: [1]\n', path, undefined), /not set/);
  assert.match(refusal('a: 1\n', 'a.b', '2'), /a is a bare value/);
  assert.match(refusal('x: &x { b: 1 }\na: *x\n', 'a.b', '2'), /alias/);
  assert.match(refusal('a: [1]\n', 'a.7', '2'), /list with 1 entries/);
});

test('a key without a comment gets one, in its place and in the style of the file', () => {
  const note = { comment: 'why', apart: false };
  assert.equal(commentKey('a:\n    b: 1\n    c: 2\n', ['a', 'c'], note), 'a:\n    b: 1\n    # why\n    c: 2\n');
  assert.equal(commentKey('a:\n  b: 1\nc:\n  d: ${X}\n', ['c', 'd'], { ...note, apart: true }), 'a:\n  b: 1\n\nc:\n  # why\n  d: ${X}\n');
  for (const text of ['a:\n  # mine\n  b: 1\n', 'a: { b: 1 }\n', 'a: 1\n']) assert.equal(commentKey(text, ['a', 'b'], note), text);
});
