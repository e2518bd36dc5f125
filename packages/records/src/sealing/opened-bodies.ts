import { type CustomerKey, keepRecentlyUsed, limitsOf } from '@bursar/base'

const limits = limitsOf({
  /** Characters of opened and sealed bodies that a process keeps in memory, one byte each. */
  openedBodyCharactersMax: 24 * 1024 * 1024,
})

/** A full body as it is stored, and what it belongs to. */
export type StoredBody = {
  readonly customerId: string
  readonly id: string
  readonly body: string
  readonly checksum: number
}

type OpenedBody = {
  readonly stored: StoredBody
  readonly kind: string
  readonly key: CustomerKey
  readonly body: string
}

/** The bodies that are opened often: a client that asks again and again is answered sooner. */
export type OpenedBodies = {
  find(key: CustomerKey, kind: string, stored: StoredBody): string | undefined
  add(key: CustomerKey, kind: string, stored: StoredBody, body: string): void
}

/**
 * The digests of bodies that were opened once, each in the place that its bits choose. Of any
 * number of records that are read in turn at most a third keep their place until they are read
 * again, and those fit into the memory.
 */
const NOTED = 16 * 1024

/**
 * A body is kept from its second opening on. To keep each of many records that are read in turn
 * takes longer than to open them, since the next ones push it out before it is read again.
 *
 * A body is found only with the key object that has opened it, and if its stored text and its place
 * are the same to the last bit: what was changed in the store is opened again, and refused.
 */
export function keepOpenedBodies(charactersMax = limits.openedBodyCharactersMax): OpenedBodies {
  const opened = keepRecentlyUsed<string, OpenedBody>(
    charactersMax,
    ({ stored, body }) => stored.body.length + body.length,
  )
  const noted = new Float64Array(NOTED)
  const isNoted = ({ checksum }: StoredBody) => noted[checksum % NOTED] === checksum
  return {
    find: (key, kind, stored) => {
      // A body that is read once is not in the map, and a look takes a fifth of its opening.
      if (!isNoted(stored)) return undefined
      const known = opened.get(stored.id)
      const isSame =
        known !== undefined &&
        known.key === key &&
        known.kind === kind &&
        known.stored.customerId === stored.customerId &&
        known.stored.checksum === stored.checksum &&
        known.stored.body === stored.body
      return isSame ? known.body : undefined
    },
    add: (key, kind, stored, body) => {
      if (isNoted(stored)) opened.set(stored.id, { stored, kind, key, body })
      else noted[stored.checksum % NOTED] = stored.checksum
    },
  }
}
