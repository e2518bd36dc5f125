const DAY_MS = 86_400_000

/** A day before the start of this minute, so that the link stays the same for a while. */
const yesterday = (): string =>
  new Date(Math.floor(Date.now() / 60_000) * 60_000 - DAY_MS).toISOString().replace('.000Z', 'Z')

/** The filter and the order by which the server lists what was paid too little in an asset. */
export const shortfallQuery = (asset: string): Readonly<Record<string, string>> => ({
  shortfall: 'true',
  asset,
  order_by: 'SHORTFALL',
})

/** Quotes that failed since an instant, or in the last day. */
export const failedQuery = (since: string | undefined): Readonly<Record<string, string>> => ({
  status: 'FAILED',
  'created_at.gte': since ?? yesterday(),
})
