import type { List } from './contract.ts'
import document from './laws.json' with { type: 'json' }
import { named } from './shape.ts'

/** Where a law stands: in the contract, or in what Bursar has settled beyond it. */
type Source =
  | {
      readonly of: 'contract'
      /** Without it, that of the operation. */
      readonly section?: string | undefined
      /** The list for which the contract leaves it open. */
      readonly openFor?: string | undefined
    }
  | { readonly of: 'extra'; readonly at: string }

/** What a statement promises to clients, and where that is written. */
export type Law = { readonly says: string; readonly source: Source }

/** The laws of laws.json, which names the source of each: the contract, a document or an RFC. */
const laws: Readonly<Record<string, Law>> = Object.fromEntries(
  Object.entries<Readonly<Record<string, string>>>(document).flatMap(([at, sentences]) =>
    Object.entries(sentences).map(([id, says]) => [id, { says, source: sourceOf(at) }]),
  ),
)

export const lawIds: readonly string[] = Object.keys(laws)

/** The law of an id. One that stands for several names, such as `filters.{filter}`, says each. */
export function lawOf(id: string, general = id): Law {
  const { says, source } = named(laws, general)
  return { says: says.replace('{name}', id.slice(id.indexOf('.') + 1)), source }
}

function sourceOf(at: string): Source {
  const contract = /^contract(?:, section ([\d.]+))?(?:, open for (.+))?$/.exec(at)
  if (contract === null) return { of: 'extra', at }
  const [, section, openFor] = contract
  return { of: 'contract', section, openFor }
}

/** A source as a report names it. */
export type Cited = { readonly source: 'contract' | 'extra'; readonly cited: string }

/** The operation in question: a list, or a single read. */
type Operation = Pick<List, 'section' | 'isMentionedOnly'>

export function citedOf(source: Source, operation?: Operation, list?: List): Cited {
  if (source.of === 'extra') return { source: 'extra', cited: source.at }
  if (operation?.isMentionedOnly === true) {
    const cited = `the contract mentions this list in section ${operation.section}, and does not show it`
    return { source: 'extra', cited }
  }
  if (list !== undefined && source.openFor === list.name) {
    return {
      source: 'extra',
      cited: 'docs/integrating.md; the contract leaves it open for this list',
    }
  }
  const sections = [operation?.section, source.section].filter((section) => section !== undefined)
  const named = sections.length === 1 ? 'section' : 'sections'
  const where = sections.length === 0 ? 'section 4' : `${named} ${sections.join(' and ')}`
  return { source: 'contract', cited: `contract, ${where}` }
}
