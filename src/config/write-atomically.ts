export { writeAtomically } from '../lib/write-atomically.ts';
