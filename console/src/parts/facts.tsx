import type { ReactNode } from 'react'
import { labelOf } from '../values/labels.ts'

/** A label and its value. The name of the API is in the title of the label. */
export function Fact(props: {
  readonly member: string
  readonly label?: string
  readonly children: ReactNode
}) {
  return (
    <div>
      <dt title={props.member} data-member={props.member}>
        {props.label ?? labelOf(props.member)}
      </dt>
      <dd>{props.children}</dd>
    </div>
  )
}
