import { Cell, Column, Row, Table, TableBody, TableHeader } from 'react-aria-components'
import type { ColumnOf, Kind, RecordData } from '../../kinds/kind.ts'

type Props = {
  readonly kind: Kind
  readonly columns: readonly ColumnOf[]
  readonly records: readonly RecordData[]
  /** Whether these are all rows that match. Only then a click on a heading sorts them. */
  readonly isWhole: boolean
  /** `shortfall`, or `-shortfall` for the other way round; empty for the order of the API. */
  readonly sort: string
  readonly onSort: (sort: string) => void
  readonly onOpen: (id: string) => void
}

/** The loaded rows, in the order of the API. Part of a list is never sorted by another column. */
export function RecordTable({ kind, columns, records, isWhole, onSort, onOpen, ...given }: Props) {
  const sort = isWhole ? given.sort : ''
  const name = sort.replace(/^-/, '')
  const isDescending = sort.startsWith('-')
  const sorted = sortedRecords(
    records,
    columns.find((column) => column.name === name),
    isDescending,
  )
  const descriptor = {
    column: name,
    direction: isDescending ? ('descending' as const) : ('ascending' as const),
  }
  return (
    <div className="scroll">
      <Table
        aria-label={kind.title}
        {...(name !== '' && { sortDescriptor: descriptor })}
        onSortChange={({ column, direction }) =>
          onSort(`${direction === 'descending' ? '-' : ''}${column}`)
        }
        onRowAction={(id) => onOpen(String(id))}
      >
        <TableHeader>
          {columns.map((column, at) => (
            <Column
              key={column.name}
              id={column.name}
              isRowHeader={at === 0}
              allowsSorting={isWhole}
              className={column.isNumber === true ? 'number' : ''}
            >
              {({ sortDirection }) => (
                <>
                  {column.title}
                  {sortDirection !== undefined && (
                    <span aria-hidden="true">{sortDirection === 'ascending' ? ' ↑' : ' ↓'}</span>
                  )}
                </>
              )}
            </Column>
          ))}
        </TableHeader>
        <TableBody renderEmptyState={() => <p className="state">No record matches.</p>}>
          {sorted.map((record) => (
            <Row key={record.id} id={record.id} data-id={record.id}>
              {columns.map((column) => (
                <Cell key={column.name} className={column.isNumber === true ? 'number' : ''}>
                  {column.cell?.(record) ?? column.text(record)}
                </Cell>
              ))}
            </Row>
          ))}
        </TableBody>
      </Table>
    </div>
  )
}

function sortedRecords(
  records: readonly RecordData[],
  column: ColumnOf | undefined,
  isDescending: boolean,
): readonly RecordData[] {
  if (column === undefined) return records
  const { text, compare = (one, other) => text(one).localeCompare(text(other)) } = column
  const sorted = records.toSorted(compare)
  return isDescending ? sorted.reverse() : sorted
}
