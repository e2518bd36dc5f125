import { createHmac } from 'node:crypto'
import { attempt } from '@bursar/base'
import type { Term, Terms } from '@bursar/contract'

/**
 * The terms of a record as its column `terms` has them: names, places and times in JSON. They are
 * sorted, since the order of the words of a name would tell which digest is of which word.
 */
export function printTerms({ letter }: Terms, found: readonly Term[]): string {
  const inClear = found.filter(({ isPrivate = false }) => !isPrivate)
  const terms = inClear.map(({ name, sort, since }): Printed => {
    const ordered = sort === undefined ? [] : [sort]
    return [`${letter}${name}`, ...ordered, ...(since === undefined ? [] : [String(since)])]
  })
  return JSON.stringify(terms.toSorted(byName))
}

const byName = ([one]: Printed, [other]: Printed): number =>
  one < other ? -1 : Number(one > other)

/** The names of the private terms of a record. */
export const privateTerms = (found: readonly Term[]): readonly string[] =>
  found.flatMap(({ name, isPrivate = false }) => (isPrivate ? [name] : []))

/** The stored name of a private term, which no index may have in clear: a digest of 96 bits. */
export function privateTerm({ letter }: Terms, key: Uint8Array, name: string): string {
  const digest = createHmac('sha256', key).update(name).digest().subarray(0, 12)
  return `${letter}private ${digest.toString('base64')}`
}

/** A text that `printTerms` has made, with private terms. */
export function addPrivateTerms(
  terms: Terms,
  printed: string,
  key: Uint8Array,
  names: readonly string[],
): string {
  const added = names.map((name): Printed => [privateTerm(terms, key, name)])
  return JSON.stringify([...readTerms(printed), ...added].toSorted(byName))
}

/** The same for the terms of a record that has this full body, which another key has digested. */
export function renewPrivateTerms(
  terms: Terms,
  printed: string,
  key: Uint8Array,
  body: string,
): string {
  const names = privateTerms(terms.of(JSON.parse(body)))
  if (names.length === 0) return printed
  const isPrivate = ([name]: Printed) => name.startsWith(`${terms.letter}private `)
  const inClear = JSON.stringify(readTerms(printed).filter((term) => !isPrivate(term)))
  return addPrivateTerms(terms, inClear, key, names)
}

/** A row of the terms of a record. `scope` is the number of its customer, or 0 for all of them. */
export type TermRow = {
  readonly term: string
  readonly scope: bigint
  readonly sort: string
  readonly since: bigint | null
}

/** The rows of a text that `printTerms` has made. A damaged text has none. */
export function termRowsOf(terms: string, customer: bigint): readonly TermRow[] {
  return readTerms(terms).flatMap(([term, sort, since]) => {
    const row = { term, sort: sort ?? '', since: since === undefined ? null : BigInt(since) }
    const own = { ...row, scope: customer }
    return sort === undefined ? [own] : [own, { ...row, scope: 0n }]
  })
}

/** A term, its place and its time. */
type Printed = readonly [term: string, ...places: string[]]

const readTerms = (terms: string): readonly Printed[] =>
  attempt((): readonly Printed[] => JSON.parse(terms)) ?? []
