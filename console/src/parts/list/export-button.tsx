import { useEffect, useRef, useState } from 'react'
import { Button, ProgressBar } from 'react-aria-components'
import { type ListRequest, readAllPages } from '../../api/record-pages.ts'
import { messageOf } from '../../api-problem.ts'
import type { ColumnOf, RecordData } from '../../kinds/kind.ts'
import { mayExport, useSession } from '../../session/console-session.ts'
import { openFile } from './save-file.ts'

type Props = { readonly wanted: ListRequest; readonly reason: string | undefined }

/** Writes all rows that match to a CSV file, page by page, with every column of the kind. */
export function ExportButton({ wanted, reason }: Props) {
  const session = useSession()
  const [rows, setRows] = useState<number>()
  const [outcome, setOutcome] = useState('')
  const abort = useRef<AbortController>(undefined)
  useEffect(() => () => abort.current?.abort(), [])
  if (!mayExport(session)) return null
  const { kind, customerId, query } = wanted
  const run = async () => {
    const file = await openFile(`${kind.name}-${customerId}.csv`)
    if (file === undefined) return
    abort.current = new AbortController()
    const all = new URLSearchParams(query)
    all.set('purpose', 'export')
    const options = { signal: abort.current.signal, reason }
    let count = 0
    setRows(0)
    setOutcome('')
    try {
      await file.write(csvHead(kind.columns))
      for await (const records of readAllPages(session, { ...wanted, query: all }, options)) {
        await file.write(csvLines(kind.columns, records))
        count += records.length
        setRows(count)
      }
      await file.close()
      setOutcome(`${count} rows were written.`)
    } catch (error) {
      await file.discard()
      const isStopped = abort.current.signal.aborted
      setOutcome(isStopped ? 'Stopped; no file was written.' : `No file: ${messageOf(error)}`)
    }
    setRows(undefined)
  }
  return (
    <>
      {rows === undefined ? (
        <Button onPress={() => void run()}>Export CSV</Button>
      ) : (
        <>
          <ProgressBar isIndeterminate aria-label="Export" className="progress">
            {rows} rows
          </ProgressBar>
          <Button onPress={() => abort.current?.abort()}>Stop</Button>
        </>
      )}
      <span role="status" className="hint">
        {outcome}
      </span>
    </>
  )
}

/** The first line of a file. The mark at its start tells Excel that the text is UTF-8. */
const csvHead = (columns: readonly ColumnOf[]): string =>
  `\uFEFF${lineOf(columns.map(({ name }) => name))}`

const csvLines = (columns: readonly ColumnOf[], records: readonly RecordData[]): string =>
  records.map((record) => lineOf(columns.map(({ text }) => text(record)))).join('')

const lineOf = (cells: readonly string[]): string => `${cells.map(cellOf).join(',')}\r\n`

/**
 * A cell that spreadsheets show and never run. A spreadsheet may split a line at another separator
 * than the comma, and then reads the quotes as text. So each part of a text that starts like a
 * formula gets an apostrophe of its own. A plain number stays one.
 */
function cellOf(text: string): string {
  const isNumber = /^-?\d*\.?\d+$/.test(text)
  const safe = isNumber ? text : text.replace(formulaStart, "$1'")
  return /[",;|\t\r\n']/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

const formulaStart = /(^|[;,|\t\r\n])(?=[\s"]*[=+\-@＝＋－＠])/g
