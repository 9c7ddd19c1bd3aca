import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { deniedBy, fitsGlob } from './deny-globs.ts';
import { readScript } from './shell/read-script.ts';

const denies = (glob: string, command: string): boolean => deniedBy([glob], command, readScript(command, { cwd: '/w', home: '/h', parentPid: 1 }).calls) !== undefined;

test('a pattern has to fit the whole text', () => {
  assert.ok(fitsGlob('git push*', 'git push origin') && fitsGlob('*push*', 'git push origin') && fitsGlob('l?', 'ls') && fitsGlob('**', '') && fitsGlob('a*b*c', 'aXbXXc'));
  assert.ok(!fitsGlob('git push', 'git push origin') && !fitsGlob('l?', 'l') && !fitsGlob('a*b', 'aXbX') && !fitsGlob('', 'a'));
});

test('the pattern is the text itself, with any parts of it replaced by stars', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 20 }), fc.nat(20), fc.nat(20), (text, a, b) => {
      const [from, to] = [Math.min(a, b, text.length), Math.min(Math.max(a, b), text.length)];
      const glob = `${text.slice(0, from)}*${text.slice(to)}`;
      assert.ok(fitsGlob(glob, text));
    }),
  );
});

test('a pattern with many stars takes no time on a long text', () => {
  assert.equal(fitsGlob('*a*a*a*a*a*a*a*a*b', 'a'.repeat(50_000)), false);
});

test('each command in a line is compared, by its path and by its name, in whatever clothes', () => {
  for (const command of ['git push', 'GIT  push', 'cd x && git push origin', "sh -c 'git push'", 'sudo /usr/bin/git push -f', 'g"i"t push', 'echo $(git push)']) assert.ok(denies('git push*', command), command);
  for (const command of ['git pull', 'echo "git push"', 'git log --grep push']) assert.ok(!denies('git push*', command), command);
  assert.ok(denies('*/bin/git *', '/usr/bin/git status') && denies('GIT push * main', 'git push origin MAIN'));
});
