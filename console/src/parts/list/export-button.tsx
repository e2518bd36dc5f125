import { useEffect, useRef, useState } from 'react'
import { Button, ProgressBar } from 'react-aria-components'
import { csvHead, csvLines } from '../../api/csv.ts'
import { messageOf } from '../../api/problem.ts'
import { type ListRequest, readAllPages } from '../../api/records.ts'
import { mayExport, useSession } from '../../session/session.ts'
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
