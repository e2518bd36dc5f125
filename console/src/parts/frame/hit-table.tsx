import { Cell, Column, Row, Table, TableBody, TableHeader } from 'react-aria-components'
import type { Hit } from '../../api/find-hits.ts'
import { kindNamed } from '../../kinds/kinds.ts'
import { Time } from '../../values/time.tsx'

type Props = {
  readonly label: string
  readonly hits: readonly Hit[]
  readonly onOpen: (hit: Hit) => void
}

/** Hits, one a row. The arrows select, Enter opens, `c` copies the id. */
export function HitTable({ label, hits, onOpen }: Props) {
  const keyOf = ({ kind, id }: Hit) => `${kind} ${id}`
  return (
    <div className="scroll hits">
      <Table
        aria-label={label}
        onRowAction={(key) => {
          const hit = hits.find((other) => keyOf(other) === key)
          if (hit !== undefined) onOpen(hit)
        }}
      >
        <TableHeader>
          <Column>Kind</Column>
          <Column isRowHeader>Customer</Column>
          <Column>Matched</Column>
          <Column>Time</Column>
          <Column>Id</Column>
        </TableHeader>
        <TableBody>
          {hits.map((hit) => (
            <Row key={keyOf(hit)} id={keyOf(hit)} data-id={hit.id}>
              <Cell>{kindNamed(hit.kind)?.noun ?? 'fee'}</Cell>
              <Cell>{hit.customer_id}</Cell>
              <Cell>{hit.matched}</Cell>
              <Cell>
                <Time at={hit.at} />
              </Cell>
              <Cell>{hit.id}</Cell>
            </Row>
          ))}
        </TableBody>
      </Table>
    </div>
  )
}
