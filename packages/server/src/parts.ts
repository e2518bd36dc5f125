/**
 * Parts that open in the order of a list, and close in the reverse one. A part takes what it needs
 * of those before it, so the compiler refuses a list in another order.
 */
export type Parts<Open extends object> = {
  /** Adds a part, which returns what it opens, and has `closing` close it. */
  add<More extends object>(part: Part<Open, More>): Parts<Open & More>
  /** Where a part cannot be opened, `closing` has those before it. */
  open(closing: AsyncDisposableStack): Promise<Open>
}

type Part<Open, More> = (open: Open, closing: AsyncDisposableStack) => More | Promise<More>

export const partsOf = <Given extends object>(given: Given): Parts<Given> =>
  listOf(async () => given)

const listOf = <Open extends object>(open: Parts<Open>['open']): Parts<Open> => ({
  open,
  add: (part) =>
    listOf(async (closing) => {
      const before = await open(closing)
      return { ...before, ...(await part(before, closing)) }
    }),
})
