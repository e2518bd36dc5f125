import { codeOf, printable } from '@bursar/base'
import { CsvError, parse } from 'csv-parse/sync'
import { UnreadableFile } from '../reading/lines.ts'
import type { RawEntry } from '../reading/read-entries.ts'
import type { Column } from './header.ts'

/** The cells of a row, and the first control character in a cell without quotation marks. */
export type Cells = { readonly cells: readonly string[]; readonly control: Control | undefined }

type Control = { readonly at: number; readonly character: string }

type Row = {
  readonly line: number
  readonly delimiter: string
  readonly controls: RegExp
  readonly isSuspect: boolean
}

/** Finds a control character that separates no cells, such as what is left of a line end. */
const controlsBut = (delimiter: string): RegExp =>
  delimiter === '\t' ? /(?!\t)\p{Cc}/u : /\p{Cc}/u

function controlIn(cells: readonly string[], controls: RegExp): Control | undefined {
  const at = cells.findIndex((cell) => controls.test(cell))
  const [character] = controls.exec(cells[at] ?? '') ?? []
  return character === undefined ? undefined : { at, character }
}

export function reasonOf({ at, character }: Control, column?: Column): string {
  const name = column === undefined ? '' : ` (${printable(column.path.join('.'))})`
  return `has the control character ${codeOf(character)} in cell ${at + 1}${name}; take it out, or put the cell in quotation marks`
}

/** Reads the cells of rows. Most rows have no quotation mark. */
export function cellReader(delimiter: string): (row: RawEntry) => Cells {
  const controls = controlsBut(delimiter)
  return ({ line, raw }) => {
    const text = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength).toString('utf8')
    const isSuspect = controls.test(text)
    if (text.includes('"')) return quotedCells(text, { line, delimiter, controls, isSuspect })
    const cells = text.split(delimiter)
    return { cells, control: isSuspect ? controlIn(cells, controls) : undefined }
  }
}

/** The cells of a row with quotation marks, which enclose all of its line ends. */
function quotedCells(text: string, { line, delimiter, controls, isSuspect }: Row): Cells {
  const unquoted: string[] = []
  try {
    const [cells = []] = parse(text, {
      delimiter,
      record_delimiter: ['\r\n', '\n', '\r'],
      // Otherwise a row of another length than the one before it is an error.
      relax_column_count: true,
      ...(isSuspect && {
        cast: (cell, { index, quoting }) => {
          unquoted[index] = quoting ? '' : cell
          return cell
        },
      }),
    })
    return { cells, control: controlIn(unquoted, controls) }
  } catch (error) {
    throw error instanceof CsvError ? unreadable(error, line) : error
  }
}

/** The parser's messages are sentences, some of which end with the line. None quotes a cell. */
function unreadable(error: CsvError & { lines?: number }, line: number): UnreadableFile {
  const { code, message, lines = 1 } = error
  return new UnreadableFile(faults[code] ?? message, line + lines - 1)
}

const faults: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: 'a quotation mark that opens a cell is not closed',
  INVALID_OPENING_QUOTE:
    'a quotation mark stands inside a cell; put the cell in quotation marks and double those in it',
  CSV_INVALID_CLOSING_QUOTE:
    'a quotation mark is followed by other text; double the quotation marks inside a cell',
}
