import { keepRecentlyUsed, limitsOf, wordsOf } from '@bursar/base'
import type { RecordInput, Term, Terms } from '../resource.ts'
import { endOfNumber, objectAt, routingParts } from './bank-details.ts'

const limits = limitsOf({
  /** Words of a query that are compared; the others are left out. */
  searchWordsMax: 8,
  /** Words of a name that are stored, each as a row: more than names have, and than a query. */
  nameWordsMax: 12,
})

type SearchedTerms = Required<Omit<Terms, 'letter'>>

/** What accounts and deposit instructions are found by, beside their identifiers. */
export const networkTerms: SearchedTerms = {
  of: (record) => {
    const networks = Object.values(objectAt(record, 'fiat_network_instructions') ?? {})
    return [...endTerms(networks), ...bankTerms(networks)]
  },
  sought: (text) => [
    { matched: 'account_number', names: isNumberEnd(text) ? [endTerm(text)] : [] },
    { matched: 'bank_name', names: soughtWords(wordsOfBank(text)).map(wordOfBank) },
  ],
}

/** Accounts are found by their owners, too, but only by those who may see them. */
export const accountTerms: SearchedTerms = {
  of: (record) => [...networkTerms.of(record), ...ownerTerms(record)],
  sought: (text) => {
    const names = soughtWords(wordsOf(text)).map(wordOfOwner)
    return [...networkTerms.sought(text), { matched: 'fiat_account_owner', names, isPrivate: true }]
  },
}

const endTerm = (end: string): string => `end ${end.replaceAll(/\s/g, '')}`
const wordOfBank = (word: string): string => `bank ${word}`
const wordOfOwner = (word: string): string => `owner ${word}`

const soughtWords = (words: readonly string[]): readonly string[] =>
  words.slice(0, limits.searchWordsMax)

/** Whether a text may be the end of an account number that is longer. */
const isNumberEnd = (text: string): boolean => /^\s*(?:[\x21-\x7e]\s*){4}$/.test(text)

/** The last four characters of account numbers that have more, which masked lists show too. */
function endTerms(networks: readonly unknown[]): readonly Term[] {
  const ends = networks.flatMap((network) => {
    const number = (network as RecordInput).account_number
    return (typeof number === 'string' && endOfNumber(number)) || []
  })
  return [...new Set(ends)].filter(isNumberEnd).map((end) => ({ name: endTerm(end) }))
}

function bankTerms(networks: readonly unknown[]): readonly Term[] {
  const names = networks.flatMap((network) =>
    routingParts.map((part) => objectAt(network, part)?.bank_name),
  )
  const words = wordsOfAll(names, keptWordsOfBank)
  return words.map((word) => ({ name: wordOfBank(word) }))
}

function ownerTerms(record: RecordInput): readonly Term[] {
  const owner = objectAt(record, 'fiat_account_owner')
  const person = objectAt(owner, 'person_details')
  const parts = person === undefined ? [] : [person.first_name, person.last_name]
  // Initials of both parts are one word where somebody seeks the whole name.
  const names = [...parts, parts.join(' '), objectAt(owner, 'institution_details')?.name]
  const words = wordsOfAll(names, wordsOf)
  return words.map((word) => ({ name: wordOfOwner(word), isPrivate: true }))
}

const wordsOfAll = (
  names: readonly unknown[],
  ofName: (name: string) => readonly string[],
): readonly string[] => [
  ...new Set(
    names.flatMap((name) =>
      typeof name === 'string' ? ofName(name).slice(0, limits.nameWordsMax) : [],
    ),
  ),
]

/** Words that most banks have, “N.A.” among them. */
const commonWords: ReadonlySet<string> = new Set(['and', 'bank', 'na', 'of', 'the'])

/** The words of a text by which a bank is found. A name of common words alone is found by them. */
function wordsOfBank(text: string): readonly string[] {
  const words = wordsOf(text)
  const own = words.filter((word) => !commonWords.has(word))
  return own.length === 0 ? words : own
}

/** An import has few banks, again and again. */
const banksKept = keepRecentlyUsed<string, readonly string[]>(500)

function keptWordsOfBank(name: string): readonly string[] {
  const kept = banksKept.get(name)
  if (kept !== undefined) return kept
  const words = wordsOfBank(name)
  banksKept.set(name, words)
  return words
}
