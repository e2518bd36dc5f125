import { resources } from '../../resources/catalogue.ts'

/** The masked form of a stored body; null for a kind without a mask. */
export function maskedBody(kind: string, body: string): string | null {
  const mask = resources.find((resource) => resource.kind === kind)?.mask
  return mask === undefined ? null : JSON.stringify(mask(JSON.parse(body)))
}
