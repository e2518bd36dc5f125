import { readFileSync, statSync } from 'node:fs'
import { decodeText, limitsOf, parseInstant, parseJson } from '@bursar/base'
import type { Recovery } from '@bursar/records'
import {
  type ErasureDeps,
  eraseCustomer,
  findHoldings,
  type Holdings,
} from '../customer/run-erasure.ts'
import { isPrintable } from '../options.ts'
import { CommandFailed } from '../output.ts'

const limits = limitsOf({
  /** The list of erasures that a restored store repeats: some hundred thousand customers. */
  erasureListBytesMax: 64 * 1024 * 1024,
})

/** An erasure of the list. Without a time it was cut off. */
type Listed = { readonly customerId: string; readonly erasedAt: bigint | undefined }

/**
 * Reads what `customer erasures` has printed, with or without `--json`. Throws a CommandFailed that
 * names the first line that is none.
 */
export function readErasures(file: string): readonly Listed[] {
  const size = statSync(file, { throwIfNoEntry: false })?.size
  if (size === undefined) throw new CommandFailed(`there is no file ${file}`)
  if (size > limits.erasureListBytesMax) {
    throw new CommandFailed(`${file} is too long to be a list of erasures`)
  }
  const read = decodeText(readFileSync(file))
  if ('fault' in read) throw new CommandFailed(`${file} ${read.fault}`)
  const { text } = read
  const document = parseJson(text)
  if (typeof document === 'object' && document !== null && 'erasures' in document) {
    const { erasures } = document
    if (!Array.isArray(erasures)) throw new CommandFailed(`${file}: erasures must be a list`)
    return erasures.map((value: unknown, at) => readOne(value, `${file}: entry ${at + 1}`))
  }
  return text
    .split('\n')
    .map((line, at) => ({ line: line.trim(), place: `${file}: line ${at + 1}` }))
    .filter(({ line }) => line !== '')
    .map(({ line, place }) => readOne(parseJson(line), place))
}

function readOne(value: unknown, place: string): Listed {
  const { customer_id: customerId, erased_at: at } = Object(value) as Record<string, unknown>
  if (typeof customerId !== 'string' || !isPrintable(customerId)) {
    throw new CommandFailed(
      `${place} must be an object with customer_id, as customer erasures prints it; nothing was done`,
    )
  }
  if (at === null) return { customerId, erasedAt: undefined }
  const erasedAt = typeof at === 'string' ? parseInstant(at)?.micros : undefined
  if (erasedAt === undefined) {
    throw new CommandFailed(
      `${place}: erased_at must be a time, such as 2026-11-22T12:00:00Z, or null; nothing was done`,
    )
  }
  return { customerId, erasedAt }
}

/** A customer to erase again, and what that would remove. */
export type Due = Listed & {
  readonly found: Holdings | undefined
  readonly byKind: Readonly<Record<string, number>>
}

/**
 * What the list and the store itself know to have been erased after the restored state, or not to
 * have ended by then. What the restored store has erased by itself since is done: such a customer
 * may have come back.
 */
export async function findDue(
  stores: ErasureDeps['stores'],
  { restoredTo, restoredAt }: Recovery,
  listed: readonly Listed[],
): Promise<readonly Due[]> {
  const known = await stores.credentials().listErasures()
  const last = new Map(known.map(({ customerId, endedAt }) => [customerId, endedAt]))
  const isDue = ({ customerId, erasedAt }: Listed) =>
    (erasedAt === undefined || erasedAt > restoredTo) && (last.get(customerId) ?? 0n) <= restoredAt
  const all = [
    ...listed,
    ...known.map(({ customerId, endedAt: erasedAt }) => ({ customerId, erasedAt })),
  ]
  const due: Due[] = []
  for (const one of new Map(all.filter(isDue).map((each) => [each.customerId, each])).values()) {
    const found = await findHoldings(stores, one.customerId)
    const byKind = await stores.records().operator.holdingsByKind(one.customerId)
    due.push({ ...one, found, byKind })
  }
  return due
}

/**
 * Erases these customers again. Each is an erasure of today, so a later restore of a backup that is
 * made before today asks for it again.
 */
export async function repeatErasures(
  deps: Pick<ErasureDeps, 'stores' | 'keyring'>,
  due: readonly Due[],
): Promise<void> {
  for (const { customerId, found } of due) {
    // No client of a store in recovery is accepted.
    await eraseCustomer({ ...deps, isServed: false }, customerId, found)
  }
}
