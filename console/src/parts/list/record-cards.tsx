import { useRef } from 'react'
import type { Kind, Row } from '../../kinds/kind.ts'
import { Status } from '../../values/status.tsx'
import { useCustomerName } from '../customer-names.tsx'
import { useRowKeys } from '../rows.ts'
import { type RowBlock, useBlocks, useIsDrawn } from './row-blocks.ts'

type Props = {
  readonly kind: Kind
  readonly caption: string
  readonly rows: readonly Row[]
  readonly selected: ReadonlySet<string>
  readonly isWide: boolean
  readonly linkOf: (row: Row) => string
}

/** The usual height of a card. */
const CARD_PX = 44

/** A list on a narrow screen: one card a row, with what tells the rows apart. */
export function RecordCards(props: Props) {
  useRowKeys()
  const blocks = useBlocks(props.rows, CARD_PX)
  return blocks.map((block) => <CardBlock key={block.from} {...props} block={block} />)
}

function CardBlock(props: Props & { readonly block: RowBlock }) {
  const { block, caption, rows, selected } = props
  const place = useRef<HTMLUListElement>(null)
  const { isDrawn, gapPx } = useIsDrawn(place, block, CARD_PX)
  if (!isDrawn) return <ul ref={place} aria-hidden="true" style={{ height: gapPx }} />
  return (
    <ul className="rows" aria-label={caption} ref={place}>
      {block.rows.map((row, at) => (
        <li
          key={row.record.id}
          data-id={row.record.id}
          className={selected.has(row.record.id) ? 'selected' : undefined}
          aria-setsize={rows.length}
          aria-posinset={block.from + at + 1}
        >
          <Card {...props} row={row} />
        </li>
      ))}
    </ul>
  )
}

function Card({ kind, row, isWide, linkOf }: Props & { readonly row: Row }) {
  const nameOf = useCustomerName()
  const { figure, sub, status, line } = kind.cardOf(row)
  const title = kind.titleOf(row.record)
  const hasOwnTitle = isWide && kind.name === 'statements'
  return (
    <a href={linkOf(row)} data-row="">
      <span className="strong">{hasOwnTitle ? nameOf(row.customerId) : title}</span>
      <span className="right strong">{figure}</span>
      <span className="sub">{sub}</span>
      <span className="right">{status !== undefined && <Status value={status} />}</span>
      {line !== undefined && line !== '' && <span className="sub">{line}</span>}
      {isWide && !hasOwnTitle && <span className="sub">{nameOf(row.customerId)}</span>}
    </a>
  )
}
