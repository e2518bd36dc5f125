import { type RowPage, rowsPath } from '../../api/list-rows.ts'
import type { ListRequest } from '../../api/record-pages.ts'
import { type Changes, useRoute, withParameters } from '../../router.ts'
import { useSession } from '../../session/console-session.ts'
import { groupedCount } from '../../values/amounts.ts'
import { Button } from '../../values/button.tsx'
import { ShownTime } from '../../values/shown-time.tsx'
import { ChipSelect } from './chip-select.tsx'

type Props = {
  readonly wanted: ListRequest
  readonly page: RowPage
  readonly isWide: boolean
  readonly onChange: (changes: Changes) => void
}

/** The page before, the page after, and how many rows are on one. */
export function Pager({ wanted, page, isWide, onChange }: Props) {
  const session = useSession()
  const { query } = useRoute()
  const cursor = wanted.query.get('page_cursor') ?? ''
  const list = rowsPath(session, {
    ...wanted,
    query: withParameters(wanted.query, { page_cursor: undefined }),
  })
  const pages = readPages(list)
  const at = pages.indexOf(cursor)
  const next = () => {
    if (page.next === undefined) return
    writePages(list, [...pages.slice(0, Math.max(at, 0) + 1), page.next])
    onChange({ page_cursor: page.next })
  }
  const rows = page.rows.length
  const size = query.get('limit') ?? ''
  return (
    <div className="pager">
      <span role="status">
        {pageText(at, cursor)}
        {groupedCount(rows)} {rows === 1 ? 'row' : 'rows'}
        {page.next === undefined ? (cursor === '' ? ', all that match' : ', the last') : ''}
        {page.asOf !== undefined && ', as of '}
        {page.asOf !== undefined && <ShownTime at={page.asOf} />}
      </span>
      <span className="grow" />
      <span className="nowrap wide-only quiet">
        <kbd>K</kbd> <kbd>J</kbd> move <kbd>Enter</kbd> open
      </span>
      <ChipSelect
        name="limit"
        label="Rows"
        value={size}
        choices={isWide ? wideSizes : sizes}
        onChange={(limit) => onChange({ limit })}
      />
      <Button className="button small" disabled={cursor === ''} onClick={() => onChange({})}>
        First page
      </Button>
      <Button
        className="button small"
        disabled={at < 1}
        onClick={() => onChange({ page_cursor: pages[at - 1] || undefined })}
      >
        Previous page
      </Button>
      <Button className="button small" disabled={page.next === undefined} onClick={next}>
        Next page
      </Button>
    </div>
  )
}

const pageText = (at: number, cursor: string): string => {
  if (cursor === '') return ''
  return at < 0 ? 'A later page, ' : `Page ${at + 1}, `
}

const wideSizes = [
  ['', '50'],
  ['20', '20'],
  ['100', '100'],
] as const
const sizes = [...wideSizes, ['1000', '1,000'] as const]

const KEY = 'bursar.pages'

/** The cursors of the pages that were opened of a list, the first one empty. */
function readPages(list: string): readonly string[] {
  const stored = sessionStorage.getItem(KEY)
  if (stored === null) return ['']
  const known: { readonly list: string; readonly pages: readonly string[] } = JSON.parse(stored)
  return known.list === list ? known.pages : ['']
}

const writePages = (list: string, pages: readonly string[]): void =>
  sessionStorage.setItem(KEY, JSON.stringify({ list, pages }))
