import { type RefObject, useEffect, useRef, useState } from 'react'
import { readAllRows } from '../../api/list-rows.ts'
import type { ListRequest } from '../../api/record-pages.ts'
import { messageOf } from '../../api-problem.ts'
import type { ColumnOf, Row } from '../../kinds/kind.ts'
import { mayExport, type Session, useSession } from '../../session/console-session.ts'
import { Button } from '../../values/button.tsx'
import { Icon } from '../../values/icon.tsx'
import { csvHead, csvLines } from './csv.ts'
import { downloadBlob, openFile } from './save-file.ts'

type Props = {
  readonly wanted: ListRequest
  readonly columns: readonly ColumnOf[]
  readonly reason: string | undefined
}

/** A workbook is made in memory, so it has so many rows at most. */
const SHEET_ROWS_MAX = 50_000

/**
 * Takes all rows that match away as a file, page by page, with every column of the kind: a CSV file,
 * which `bursar import` reads again, or a workbook for people.
 */
export function ExportButtons({ wanted, columns, reason }: Props) {
  const session = useSession()
  const [rows, setRows] = useState<number>()
  const [outcome, setOutcome] = useState('')
  const abort = useRef<AbortController>(undefined)
  useEffect(() => () => abort.current?.abort(), [])
  if (!mayExport(session)) return null
  const run = async (write: (job: Job) => Promise<string | undefined>) => {
    abort.current = new AbortController()
    setOutcome('')
    try {
      const said = await write({ session, wanted, columns, reason, abort, onRows: setRows })
      setOutcome(said ?? '')
    } catch (error) {
      const isStopped = abort.current.signal.aborted
      setOutcome(isStopped ? 'Stopped; no file was written.' : `No file: ${messageOf(error)}`)
    }
    setRows(undefined)
  }
  return (
    <>
      {rows === undefined ? (
        <>
          <Button className="button" data-key="e" onClick={() => void run(writeCsv)}>
            <Icon name="save" />
            Export CSV <kbd>E</kbd>
          </Button>
          <Button className="button" onClick={() => void run(writeSheet)}>
            Spreadsheet
          </Button>
        </>
      ) : (
        <>
          <span
            role="progressbar"
            aria-label="Export"
            aria-valuetext={`${rows} rows`}
            className="progress"
          >
            {rows} rows
          </span>
          <Button className="button" onClick={() => abort.current?.abort()}>
            Stop
          </Button>
        </>
      )}
      <span role="status" className="quiet">
        {outcome}
      </span>
    </>
  )
}

type Job = Props & {
  readonly session: Session
  readonly abort: RefObject<AbortController | undefined>
  readonly onRows: (count: number) => void
}

async function* pagesOf({ session, wanted, reason, abort, onRows }: Job) {
  const query = new URLSearchParams(wanted.query)
  query.set('purpose', 'export')
  const { signal } = abort.current ?? new AbortController()
  let count = 0
  onRows(0)
  for await (const rows of readAllRows(session, { ...wanted, query }, { signal, reason })) {
    count += rows.length
    yield rows
    onRows(count)
  }
}

const nameOf = ({ wanted: { kind, customerId } }: Job, ending: string): string =>
  `${kind.name}-${customerId === '' ? 'all' : customerId}.${ending}`

async function writeCsv(job: Job): Promise<string | undefined> {
  const file = await openFile(nameOf(job, 'csv'))
  if (file === undefined) return undefined
  let count = 0
  try {
    await file.write(csvHead(job.columns))
    for await (const rows of pagesOf(job)) {
      await file.write(csvLines(job.columns, rows))
      count += rows.length
    }
    await file.close()
  } catch (error) {
    await file.discard()
    throw error
  }
  return `${count} rows were written.`
}

async function writeSheet(job: Job): Promise<string> {
  const { spreadsheetOf } = await import('./spreadsheet.ts')
  const all: Row[] = []
  for await (const rows of pagesOf(job)) {
    all.push(...rows)
    if (all.length > SHEET_ROWS_MAX) {
      throw new Error('a workbook has 50,000 rows at most; export CSV, or add a filter')
    }
  }
  downloadBlob(nameOf(job, 'xlsx'), await spreadsheetOf(job.columns, all))
  return `${all.length} rows were written.`
}
