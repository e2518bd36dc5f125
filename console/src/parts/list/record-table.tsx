import { useEffect, useMemo, useRef } from 'react'
import type { ColumnOf, Kind, Row } from '../../kinds/kind.ts'
import { decimalsOf } from '../../values/amount.tsx'
import { Icon } from '../../values/icon.tsx'
import { useRowKeys } from '../rows.ts'
import { type RowBlock, useBlocks, useIsDrawn } from './row-blocks.ts'

type Props = {
  readonly kind: Kind
  readonly caption: string
  readonly columns: readonly ColumnOf[]
  readonly rows: readonly Row[]
  readonly selected: ReadonlySet<string>
  readonly linkOf: (row: Row) => string
  /** The order of the server, such as `SHORTFALL`; a heading shows it. */
  readonly orderBy: string
  readonly isAscending: boolean
}

/** The usual height of a row. On a touch screen it is more. */
const ROW_PX = 26

/** The rows of a page, in the order of the server. The first cell is the link to the record. */
export function RecordTable(props: Props) {
  const { kind, caption, columns, rows, orderBy, isAscending } = props
  useRowKeys()
  const decimals = useMemo(
    () =>
      columns.map(({ amounts }) => (amounts === undefined ? 0 : decimalsOf(rows.flatMap(amounts)))),
    [columns, rows],
  )
  const blocks = useBlocks(rows, ROW_PX)
  const isInBlocks = blocks.length > 1
  const table = useRef<HTMLTableElement>(null)
  const isSettled = blocks.some(({ drawn }) => drawn === 'near')
  useEffect(() => (isSettled ? holdWidths(table.current) : undefined), [isSettled])
  return (
    <table
      ref={table}
      className={isInBlocks ? 'records in-blocks' : 'records'}
      aria-label={kind.title}
      {...(isInBlocks && { 'aria-rowcount': rows.length + 1 })}
    >
      <caption className="sr">{caption}</caption>
      <thead>
        <tr>
          {columns.map((column) => (
            <Heading
              key={column.name}
              column={column}
              isOrder={column.orderBy === orderBy}
              isAscending={isAscending}
            />
          ))}
        </tr>
      </thead>
      {blocks.map((block) => (
        <TableBlock
          key={block.from}
          {...props}
          block={block}
          decimals={decimals}
          isInBlocks={isInBlocks}
        />
      ))}
    </table>
  )
}

type BlockProps = Props & {
  readonly block: RowBlock
  readonly decimals: readonly number[]
  readonly isInBlocks: boolean
}

function TableBlock(props: BlockProps) {
  const { block, columns } = props
  const place = useRef<HTMLTableSectionElement>(null)
  const { isDrawn, gapPx } = useIsDrawn(place, block, ROW_PX)
  return (
    <tbody ref={place}>
      {isDrawn ? (
        block.rows.map((row, at) => (
          <TableRow key={row.record.id} {...props} row={row} at={block.from + at} />
        ))
      ) : (
        // biome-ignore lint/a11y/noAriaHiddenOnFocusable: nothing in the gap takes the focus.
        <tr aria-hidden="true" className="gap">
          <td colSpan={columns.length} style={{ height: gapPx }} />
        </tr>
      )}
    </tbody>
  )
}

/** Other rows must not move the columns while the list scrolls. Returns what releases them. */
function holdWidths(table: HTMLTableElement | null) {
  if (table === null) return undefined
  const headings = [...table.querySelectorAll<HTMLElement>('thead th')]
  const widths = headings.map(({ offsetWidth }) => `${offsetWidth}px`)
  const set = (layout: string, widthOf: (at: number) => string) => {
    for (const [at, { style }] of headings.entries()) style.width = widthOf(at)
    table.style.tableLayout = layout
  }
  set('fixed', (at) => widths[at] ?? '')
  return () => set('', () => '')
}

function Heading(props: {
  readonly column: ColumnOf
  readonly isOrder: boolean
  readonly isAscending: boolean
}) {
  const { column, isOrder, isAscending } = props
  return (
    <th
      scope="col"
      title={column.member}
      data-member={column.member}
      className={column.isNumber === true ? 'num' : ''}
      {...(isOrder && {
        'aria-sort': isAscending ? ('ascending' as const) : ('descending' as const),
      })}
    >
      {column.title}
      {isOrder && <Icon name="down" className={isAscending ? 'up' : ''} />}
    </th>
  )
}

type RowProps = BlockProps & { readonly row: Row; readonly at: number }

function TableRow({ isInBlocks, columns, row, at, decimals, linkOf, selected }: RowProps) {
  return (
    <tr
      data-id={row.record.id}
      className={row.record.is_deleted === true ? 'gone' : ''}
      {...(isInBlocks && { 'aria-rowindex': at + 2 })}
      {...(selected.has(row.record.id) && { 'aria-selected': true })}
    >
      {columns.map((column, index) => {
        const content = column.cell?.(row, decimals[index] ?? 0) ?? column.text(row.record, row)
        if (index > 0) {
          return (
            <td key={column.name} className={column.isNumber === true ? 'num' : ''}>
              {content}
            </td>
          )
        }
        return (
          <th key={column.name} scope="row">
            {/* One stop for Tab; the arrows move from row to row. */}
            <a href={linkOf(row)} data-row="" tabIndex={at === 0 ? 0 : -1}>
              {content === '' ? 'none' : content}
            </a>
          </th>
        )
      })}
    </tr>
  )
}
