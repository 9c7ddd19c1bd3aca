import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { ShellFacts } from './call.ts';
import { readScript } from './read-script.ts';

const facts: ShellFacts = { cwd: '/home/ada/work', home: '/home/ada', parentPid: 7 };

const words = (source: string): readonly string[] => readScript(source, facts).calls.filter((call) => call.name !== '').map((call) => [call.name, ...call.args.map((field) => field.text)].join(' '));

test('every command of a script is found, wherever it stands', () => {
  assert.deepEqual(words('a 1 && b 2 || c; d | e'), ['a 1', 'b 2', 'c', 'd', 'e']);
  assert.deepEqual(words('if a; then b; elif c; then d; else e; fi; while f; do g; done; case x in x) h;; esac'), ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']);
  assert.deepEqual(words('a "$(b `c`)" ${x:-$(d)} <(e) > >(f)').toSorted(), ['a \0 \0 /dev/fd/63', 'b \0', 'c', 'd', 'e', 'f']);
  assert.deepEqual(words('sudo -u root env -i X=1 nice -n 5 timeout -k 1 9 sh -c "a b"'), ['sudo -u root env -i X=1 nice -n 5 timeout -k 1 9 sh -c a b', 'env -i X=1 nice -n 5 timeout -k 1 9 sh -c a b', 'nice -n 5 timeout -k 1 9 sh -c a b', 'timeout -k 1 9 sh -c a b', 'sh -c a b', 'a b']);
});

test('words are what the program would get', () => {
  assert.deepEqual(words(`a 'b c' "d e" f\\ g $'h\\ti' {j,k}l m{1..3}`), ['a b c d e f g h\ti jl kl m1 m2 m3']);
  assert.deepEqual(words('a ~/x "$HOME/y" $PWD'), ['a ~/x /home/ada/y /home/ada/work']);
  assert.deepEqual(words('x="b c"; a $x "$x"'), ['a b c b c']);
});

test('folders that a script goes to are followed, and lost when they cannot be known', () => {
  const cwds = (source: string): readonly (string | undefined)[] => readScript(source, facts).calls.filter((call) => call.name === 'p').map((call) => call.cwd);
  assert.deepEqual(cwds('p; cd /a && p; cd b; p; cd ../..; p; cd; p'), ['/home/ada/work', '/a', '/a/b', '/', '/home/ada']);
  assert.deepEqual(cwds('(cd /a; p); p; cd /b | p; cd $x; p'), ['/a', '/home/ada/work', '/home/ada/work', undefined]);
  assert.deepEqual(cwds("eval 'cd /a'; p; sh -c 'cd /b; p'; p"), ['/a', '/b', '/a']);
});

test('where input comes from is known', () => {
  const input = (source: string): unknown => readScript(source, facts).calls.findLast((call) => call.name === 'p')?.input;
  assert.deepEqual(input('p'), { type: 'inherited' });
  assert.deepEqual(input('p < f'), { type: 'file' });
  assert.deepEqual(input("p <<'E'\na $b\nE"), { type: 'text', text: 'a $b\n', computed: false });
  assert.deepEqual(input('p <<E\na $b\nE'), { type: 'text', text: 'a $b\n', computed: true });
  assert.deepEqual(input('{ p; } <<< x'), { type: 'text', text: 'x', computed: false, glob: false });
  const piped = input('a | b | p') as { readonly from: readonly { readonly name: string }[] };
  assert.deepEqual(piped.from.map((call) => call.name), ['a', 'b']);
});

/** Ways to write a word so that the shell reads the same. */
const styles: readonly ((word: string) => string)[] = [
  (word) => word,
  (word) => `'${word}'`,
  (word) => `"${word}"`,
  (word) => word.replaceAll(/[a-z]/g, (letter) => `\\${letter}`),
  (word) => word.split('').join("''"),
  (word) => word.split('').join('""'),
  (word) => `$'${[...word].map((char) => `\\x${char.codePointAt(0)?.toString(16)}`).join('')}'`,
  (word) => `"${word.slice(0, 1)}"'${word.slice(1)}'`,
];

const style = fc.constantFrom(...styles);

/** What may stand before a plain command. */
const prefixes: readonly string[] = ['sudo ', 'sudo -u root -- ', 'env A=1 ', 'command ', 'timeout 5 ', 'timeout -s KILL 5 ', 'nice -n 3 ', 'nohup ', 'busybox ', 'exec ', 'xargs ', 'xargs -0 -n 1 ', 'stdbuf -oL '];

const quoted = (command: string): string => `'${command.replaceAll("'", "'\\''")}'`;

/** What may stand around any command. */
const wraps: readonly ((command: string) => string)[] = [
  (command) => `( ${command} )`,
  (command) => `{ ${command}; }`,
  (command) => `true && ${command}`,
  (command) => `if true; then ${command}; fi`,
  (command) => `echo $( ${command} )`,
  (command) => `echo x | { ${command}; }`,
  (command) => `f() { ${command}; }; f`,
  (command) => `for i in 1; do ${command}; done`,
  (command) => `sh -c ${quoted(command)}`,
  (command) => `bash -ec ${quoted(command)} x y`,
  (command) => `eval ${quoted(command)}`,
  (command) => `trap ${quoted(command)} EXIT`,
  (command) => `bash <<'END_OF_IT'\n${command}\nEND_OF_IT\n`,
  (command) => `! ${command}`,
  (command) => `time ${command}`,
  (command) => `find . -exec sh -c ${quoted(command)} \\;`,
];

test('a command is found in any quoting and any nesting, or the whole is in doubt', () => {
  const before = fc.array(fc.constantFrom(...prefixes), { maxLength: 3 });
  const around = fc.array(fc.constantFrom(...wraps), { maxLength: 4 });
  fc.assert(
    fc.property(style, style, before, around, (name, argument, words, layers) => {
      const source = layers.reduce((inner, wrap) => wrap(inner), `${words.join('')}${name('remove')} ${argument('-all')}`);
      const { calls, doubts } = readScript(source, facts);
      const found = calls.some((call) => call.name === 'remove' && call.args.some((field) => field.text === '-all'));
      assert.ok(found || doubts.length > 0, source);
    }),
    { numRuns: 400 },
  );
});

test('text in quotes is never a command', () => {
  const prose = fc.string({ unit: fc.constantFrom(...'rm -rf / ; & | ( ) { } < > * ? [ ] # ! ~ = x'), maxLength: 40 });
  fc.assert(
    fc.property(prose, (text) => {
      const { calls, doubts } = readScript(`say '${text}' "${text}"`, facts);
      assert.deepEqual([calls.map((call) => call.name), doubts, calls[0]?.args.map((field) => field.text)], [['say'], [], [text, text]]);
    }),
    { numRuns: 300 },
  );
});

test('no text makes the reader fail', () => {
  const source = fc.string({ unit: fc.constantFrom('$', '(', ')', '{', '}', '"', "'", '`', '\\', ' ', '\n', ';', '|', '&', '<', '>', 'a', 'eval ', 'sh -c ', '$(', '${', '<<E\n', 'E\n', 'if ', 'do ', '*', '!', '#', '=', '~', 'é', '\u{1f600}'), maxLength: 60 });
  fc.assert(fc.property(source, (text) => void readScript(text, facts)), { numRuns: 500 });
});

test('a script that is too large or too deep is in doubt, and does not take long', () => {
  for (const source of ['ls;'.repeat(5000), `${'$('.repeat(300)}ls${')'.repeat(300)}`, `${'eval '.repeat(40)}ls`]) assert.ok(readScript(source, facts).doubts.includes('too-large'), source.slice(0, 20));
  assert.ok(readScript(`echo ${'{a,b}'.repeat(60)}`, facts).calls.length > 0);
  assert.ok(readScript(`x=ab;${'x=$x$x;'.repeat(60)}$x`, facts).calls.length > 0);
});

test('a function that starts itself is seen, one that calls itself is not one', () => {
  assert.equal(readScript('f() { g | f & }; f', facts).forkBomb, true);
  assert.equal(readScript('f() { [ $1 = 0 ] || f $(($1-1)); }; f 3', facts).forkBomb, false);
});
