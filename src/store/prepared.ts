import { sql } from 'kysely';
import type { Compilable, CompiledQuery, QueryResult } from 'kysely';
import type { Engine, Reading } from './store.ts';

/** Stands for a value that is not known yet. Whoever tries to compute with it while the query is built finds out at once. */
class Slot {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }

  [Symbol.toPrimitive](): never {
    throw new TypeError(`${this.name} has no value while the query is built`);
  }

  toJSON(): never {
    throw new TypeError(`${this.name} has no value while the query is built`);
  }
}

const nowName = 'now';

const slots = <Values extends object>(): Values =>
  new Proxy({} as Values, {
    get: (_target, name) => new Slot(String(name)),
    ownKeys: () => {
      throw new TypeError('name each value of a prepared query');
    },
  });

/** SQLite's clock is ours and comes as a value; PostgreSQL's is an expression. */
const blank = (db: Reading): Reading => (db.engine === 'sqlite' ? { ...db, now: sql<number>`${new Slot(nowName)}` } : db);

const valueOf = (slot: Slot, db: Reading, values: object): unknown => (slot.name === nowName ? db.nowMs : (values as Readonly<Record<string, unknown>>)[slot.name]);

/**
 * A query that is built and compiled once, for what runs with every message: building one costs several times what SQLite needs
 * to run it. `build` may put `values` anywhere a value may stand and must not look at them.
 */
export const prepared = <Values extends object, Row>(build: (db: Reading, values: Values) => Compilable<Row>): ((db: Reading, values: Values) => Promise<QueryResult<Row>>) => {
  const compiled = new Map<Engine, CompiledQuery<Row>>();
  return (db, values) => {
    let query = compiled.get(db.engine);
    if (query === undefined) {
      query = build(blank(db), slots<Values>()).compile();
      compiled.set(db.engine, query);
    }
    const { query: node, queryId, sql: text } = query;
    const parameters = query.parameters.map((parameter) => (parameter instanceof Slot ? valueOf(parameter, db, values) : parameter));
    const ready: CompiledQuery<Row> = { query: node, queryId, sql: text, parameters };
    return db.run === undefined ? db.q.executeQuery(ready) : db.run(ready);
  };
};
