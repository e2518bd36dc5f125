/** The content codings that Bursar can send (RFC 9110 section 8.4.1). */
export type Coding = 'br' | 'zstd' | 'gzip'

/**
 * The offered coding that the caller prefers (RFC 9110 section 12.5.3). Among equals the first
 * that is offered wins. Undefined means to send the body as it is.
 */
export function negotiateCoding(
  acceptEncoding: string | undefined,
  offered: readonly Coding[],
): Coding | undefined {
  // Longer than any browser's; a longer one is not worth its time.
  if (acceptEncoding === undefined || acceptEncoding.length > LENGTH_MAX) return undefined
  const weights = new Map(acceptEncoding.split(',').map(weightOf))
  let best: Coding | undefined
  let bestWeight = weights.get('identity') ?? 0
  for (const coding of offered) {
    const weight = weights.get(coding) ?? weights.get('*') ?? 0
    if (weight > 0 && (best === undefined ? weight >= bestWeight : weight > bestWeight)) {
      best = coding
      bestWeight = weight
    }
  }
  return best
}

const LENGTH_MAX = 200

/** `gzip;q=0.5` → `['gzip', 0.5]`. A malformed weight counts as 0. */
function weightOf(part: string): readonly [string, number] {
  const [name = '', weight = 'q=1'] = part.toLowerCase().split(';', 2)
  const given = /^\s*q=([01](?:\.\d{0,3})?)\s*$/.exec(weight)
  return [name.trim(), Math.min(Number(given?.[1] ?? 0), 1)]
}
