import { stripVTControlCharacters } from 'node:util';
import { z } from 'zod';

const text = z.union([z.string(), z.array(z.string()).transform((parts) => parts.join(''))]);

const output = z.union([
  z.looseObject({ output_type: z.literal('stream'), text }),
  z.looseObject({ output_type: z.literal('error'), ename: z.string(), evalue: z.string(), traceback: z.array(z.string()).default([]) }),
  z.looseObject({ output_type: z.enum(['execute_result', 'display_data']), data: z.record(z.string(), z.unknown()).default({}) }),
]);

const notebook = z.looseObject({ nbformat: z.int(), cells: z.array(z.looseObject({ cell_type: z.string(), source: text, outputs: z.array(z.unknown()).default([]) })) });

const outputText = (written: unknown): string => {
  const read = output.safeParse(written);
  if (!read.success) return '';
  const { data: known } = read;
  if (known.output_type === 'stream') return known.text;
  if (known.output_type === 'error') return known.traceback.length > 0 ? known.traceback.join('\n') : `${known.ename}: ${known.evalue}`;
  const { data } = known;
  const plain = text.safeParse(data['text/plain']);
  return plain.success ? plain.data : Object.keys(data).map((type) => `[${type}]`).join(' ');
};

/** The cells of a Jupyter notebook with what they have put out; undefined for what is no notebook. */
export const notebookLines = (json: string): readonly string[] | undefined => {
  let content: unknown;
  try {
    content = JSON.parse(json);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
  const read = notebook.safeParse(content);
  if (!read.success) return undefined;
  return read.data.cells.flatMap(({ cell_type, source, outputs }, index) => {
    const said = stripVTControlCharacters(outputs.map(outputText).filter((each) => each !== '').join('\n')).trimEnd();
    return [`[cell ${index + 1}, ${cell_type}]`, ...source.split('\n'), ...(said === '' ? [] : [`[output of cell ${index + 1}]`, ...said.split('\n')])];
  });
};
