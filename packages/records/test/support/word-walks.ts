import { anId } from '../../../../test/support/records.ts'
import type { Dialect } from '../../src/dialect.ts'
import { countOf, walkOf } from '../../src/search/find-by-words.ts'
import { searchLookUps } from '../../src/search/search.ts'

/** The statements of searches by words: of every customer and of one, from the start and later. */
export function* wordWalks(dialect: Dialect) {
  for (const customerId of [undefined, 'acme']) {
    const search = { query: 'ABCD efgh', customerId, hitsMax: 20, after: undefined }
    for (const { look } of searchLookUps(search, dialect, [Buffer.alloc(32)])) {
      if (!('terms' in look)) continue
      const [term = ''] = look.terms
      const count = countOf(dialect, term, customerId)
      for (const after of [undefined, anId(1)]) {
        const isLater = after !== undefined
        yield { walk: walkOf(dialect, { ...look, after }, term), count, customerId, isLater }
      }
    }
  }
}
