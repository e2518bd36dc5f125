import { useEffect, useSyncExternalStore } from 'react'
import type { Row } from '../kinds/kind.ts'
import { linkTo } from '../router.ts'
import { isBusy } from './keys.ts'

/** The rows of the list that was opened last, so that `K` and `J` go from record to record. */
type Trail = {
  readonly link: string
  readonly kind: string
  readonly asOf: string
  readonly stops: readonly (readonly [id: string, customerId: string])[]
}

const KEY = 'bursar.trail'

export function noteTrail(trail: Omit<Trail, 'stops'>, rows: readonly Row[]): void {
  const stops = rows.map(({ record, customerId }) => [record.id, customerId] as const)
  sessionStorage.setItem(KEY, JSON.stringify({ ...trail, stops } satisfies Trail))
}

/** The link to a record of a list. Records of all customers are each of their own. */
export const recordLink = (kind: string, id: string, customer: string, asOf: string): string =>
  linkTo(
    ['record', kind, id],
    asOf === ''
      ? [['customer', customer]]
      : [
          ['customer', customer],
          ['as_of', asOf],
        ],
  )

const empty = (): (() => void) => () => {}

export type Place = {
  readonly at: number
  readonly count: number
  readonly list: string
  readonly before: string | undefined
  readonly after: string | undefined
}

/** Where a record stands in the list that it was opened from. */
export function useTrailPlace(id: string): Place | undefined {
  const stored = useSyncExternalStore(empty, () => sessionStorage.getItem(KEY))
  if (stored === null) return undefined
  const { link, kind, asOf, stops }: Trail = JSON.parse(stored)
  const linkOf = (index: number) => {
    const [own, customer] = stops[index] ?? []
    return own === undefined ? undefined : recordLink(kind, own, customer ?? '', asOf)
  }
  const at = stops.findIndex(([own]) => own === id)
  if (at < 0) return undefined
  return {
    at: at + 1,
    count: stops.length,
    list: link,
    before: linkOf(at - 1),
    after: linkOf(at + 1),
  }
}

/** `K` and `J` open the record before and after. */
export function useTrail(id: string): void {
  const place = useTrailPlace(id)
  const { before, after } = place ?? {}
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const link = { k: before, j: after }[event.key]
      if (link === undefined || isBusy(event)) return
      event.preventDefault()
      location.hash = link
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  }, [before, after])
}
