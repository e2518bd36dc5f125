import { optionalWhole, type Session } from '@bursar/records'

/**
 * The time of a change of a customer's records: later than the change before it, as in a merge. A
 * test may have set the clock back.
 */
export async function timeOfChange(
  { rows }: Session,
  kind: string,
  customer: bigint,
  now: bigint,
): Promise<bigint> {
  const text =
    'select max(changed_at) as changed_at from revision where customer = $1 and kind = $2'
  const [row = {}] = await rows({ text, values: [customer, kind] })
  const last = optionalWhole(row, 'changed_at')
  return last === undefined || last < now ? now : last + 1n
}

/** How many records of a customer became live, or fewer than none, and when. */
export type Counted = { readonly customer: bigint; readonly at: bigint; readonly liveAdded: number }

/** The pages of the records have another content from then on, so they get other entity tags. */
export async function noteRevision(
  { rows }: Session,
  kind: string,
  { customer, at, liveAdded }: Counted,
): Promise<void> {
  const text = `insert into revision (customer, kind, changed_at, live) values ($1, $2, $3, $4)
    on conflict (customer, kind) do update set
      changed_at = excluded.changed_at, live = live + excluded.live`
  await rows({ text, values: [customer, kind, at, liveAdded] })
}
