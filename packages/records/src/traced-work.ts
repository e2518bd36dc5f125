import { apart, currentSpan, during, inSpan, type Span, within } from '@bursar/base'

type Engine = 'postgresql' | 'sqlite'

/** Runs a statement as a step of what runs now. The span has its first words, never a value. */
export function inStatement<T>(engine: Engine, text: string, work: () => T): T {
  // Before the summary, which takes time.
  if (currentSpan() === undefined) return work()
  const summary = summaryOf(text)
  const { operation } = summary
  return inSpan(summary.text, work, 'client', {
    'db.system.name': engine,
    'db.operation.name': operation,
    'db.query.summary': summary.text,
  })
}

/** The same for a statement that runs later, in another turn of the event loop. */
export function laterStatement<T>(engine: Engine, text: string, work: () => T): () => T {
  const span = currentSpan()
  return span === undefined ? work : () => within(span, () => inStatement(engine, text, work))
}

/**
 * Runs a batch. Each request that waits for it has a span of it, so that every trace shows how long
 * it took and for how many. The statements are steps of the request that has waited longest.
 */
export function inBatchSpan<T>(
  name: string,
  batch: readonly { readonly span?: Span | undefined }[],
  work: () => T,
): T {
  const spans = batch.flatMap(({ span }) => (span?.hasEnded() === false ? [span] : []))
  // What runs now may be a step of another request.
  if (spans.length === 0) return apart(work)
  const size = { 'db.operation.batch.size': batch.length }
  const steps = spans.map((span) => span.child(`batch of ${name}`, 'internal', size))
  return steps.reduce((inner, each) => () => during(each, inner), work)()
}

/**
 * What a statement does and to which table, such as `INSERT fee_quote`, for people who read a
 * trace: nothing is decided by it. Texts are those of the program, and their values are parameters.
 */
function summaryOf(text: string) {
  const [, first = 'other'] = /^\s*([a-z]+)/i.exec(text) ?? []
  const word = first.toLowerCase() === 'with' ? (written.exec(text)?.[1] ?? 'select') : first
  const operation = word.toUpperCase()
  const table = withTable.has(operation) ? tableIn(text) : undefined
  return { operation, text: table === undefined ? operation : `${operation} ${table}` }
}

/** Most statements of a customer look up its number first, which says nothing about them. */
function tableIn(text: string): string | undefined {
  const named = Array.from(text.matchAll(tables), ([, schema, table]) => ({ schema, table }))
  // Where tables have a schema, a name without one is a part of the statement.
  const stored = named.filter(({ schema }) => schema !== undefined)
  const names = (stored.length > 0 ? stored : named).map(({ table }) => table)
  return names.find((table) => table !== 'customer') ?? names[0]
}

const withTable = new Set(['SELECT', 'INSERT', 'UPDATE', 'DELETE'])
const written = /\b(insert(?= into)|(?<!for )update|delete(?= from))\b/i
/** Neither a function of SQLite nor a subquery, nor what a value `is distinct from`. */
const tables =
  /(?<!distinct )\b(?:from|into|update|join)\s+(?:([a-z_]+)\.)?(?!json_each\b|lateral\b)([a-z_]+)/gi
