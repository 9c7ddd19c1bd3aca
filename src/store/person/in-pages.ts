const pageSize = 500;

/** Rows for many ids, in pieces that fit into one statement. */
export const inPages = async <Id extends string | number, Row>(ids: readonly Id[], read: (page: readonly Id[]) => Promise<readonly Row[]>): Promise<Row[]> => {
  const rows: Row[] = [];
  for (let at = 0; at < ids.length; at += pageSize) rows.push(...(await read(ids.slice(at, at + pageSize))));
  return rows;
};
