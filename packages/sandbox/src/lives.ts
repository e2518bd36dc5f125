import assert from 'node:assert/strict'
import type { RecordInput, RecordKind } from '@bursar/contract'
import type { Story } from './story.ts'

/** What a record was from a time on, in microseconds: when the operator's system has sent it. */
export type Version = { readonly at: bigint; readonly record: RecordInput }

/** The versions of a record, the earliest first. The last one is current. */
export type Life = readonly Version[]

export type Lives = Readonly<Record<RecordKind, readonly Life[]>>

/** What a record was when something had happened to it. */
export type Moment = { readonly happenedAt: bigint; readonly record: () => RecordInput }

/** The versions that the moments of a record lead to. Of those sent together the last one is. */
export const lifeOf = ({ sentAt }: Pick<Story, 'sentAt'>, moments: readonly Moment[]): Life =>
  moments
    .map(({ happenedAt, record }) => ({ at: sentAt(happenedAt), record }))
    .filter(({ at }, place, sent) => at < (sent[place + 1]?.at ?? at + 1n))
    .map(({ at, record }) => ({ at, record: record() }))

export function currentOf(life: Life): RecordInput {
  const last = life.at(-1)
  assert(last !== undefined, 'a record has a version')
  return last.record
}
