import type { List } from './contract.ts'

/** Where a statement comes from: the contract, or what Bursar has settled beyond it. */
export type Source =
  | {
      readonly of: 'contract'
      /** Without it, that of the operation. */
      readonly section?: string
      /** Lists for which the contract leaves it open. */
      readonly openFor?: readonly List[]
    }
  | { readonly of: 'extra'; readonly at: string }

export const contract = (section?: string, openFor?: readonly List[]): Source => ({
  of: 'contract',
  ...(section !== undefined && { section }),
  ...(openFor !== undefined && { openFor }),
})

/** A rule of Bursar, with the document that describes it. */
export const extra = (at: string): Source => ({ of: 'extra', at })

/** A heading of docs/integrating.md. */
export const guide = (heading: string): Source => extra(`docs/integrating.md, “${heading}”`)

export const rfc = (number: number, section: string): Source =>
  extra(`RFC ${number}, section ${section}`)

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
  if (list !== undefined && source.openFor?.includes(list) === true) {
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
