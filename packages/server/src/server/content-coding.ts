import { limitsOf } from '@bursar/base'

const limits = limitsOf({
  /** Browsers send 23 characters. A longer header is answered as if there were none. */
  acceptEncodingLengthMax: 256,
})

/** A content coding that an answer can have (RFC 9110 section 8.4.1). */
export type Coding = 'zstd' | 'br' | 'gzip'

/**
 * Finds the coding that the caller weights highest (RFC 9110 section 12.5.3). Of equal weights the
 * first one offered wins. `*` means gzip alone: it comes from programs that pass an answer on and
 * cannot decode newer codings. Undefined means no coding: the caller prefers `identity`, accepts no
 * coding on offer, or sent no header that can be read.
 */
export function negotiateCoding(
  acceptEncoding: string | undefined,
  offered: readonly Coding[],
): Coding | undefined {
  if (acceptEncoding === undefined) return undefined
  if (acceptEncoding.length > limits.acceptEncodingLengthMax) return undefined
  const weights = readWeights(acceptEncoding)
  let best: Coding | undefined
  // An unnamed `identity` is acceptable, but any accepted coding is better.
  let bestWeight = weights.get('identity') ?? 0
  for (const coding of offered) {
    const any = coding === 'gzip' ? weights.get('*') : undefined
    const weight = weights.get(coding) ?? any ?? 0
    const isBetter = best === undefined ? weight >= bestWeight : weight > bestWeight
    if (weight === 0 || !isBetter) continue
    best = coding
    bestWeight = weight
  }
  return best
}

/** Each coding with its weight. A malformed entry is ignored, so its coding is not accepted. */
function readWeights(acceptEncoding: string): ReadonlyMap<string, number> {
  const weights = new Map<string, number>()
  for (const entry of acceptEncoding.split(',')) {
    const [, name = '', weight = '1'] = codingAndWeight.exec(entry.trim()) ?? []
    // RFC 9110 section 8.4.1.3 makes `x-gzip` another name of `gzip`.
    if (name !== '') weights.set(name.toLowerCase().replace(/^x-gzip$/, 'gzip'), Number(weight))
  }
  return weights
}

const codingAndWeight =
  /^([\w!#$%&'*+.^`|~-]+)(?:[ \t]*;[ \t]*q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?))?$/i
