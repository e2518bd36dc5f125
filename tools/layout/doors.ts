import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** The file of each name that a door hands on from its package. Each door is read once. */
export function filesBehind(door: string): ReadonlyMap<string, string> {
  const known = read.get(door)
  if (known !== undefined) return known
  const files = new Map(
    readFileSync(door, 'utf8')
      .matchAll(/^export (?:type )?\{([^}]*)\} from '([^']+)'/gm)
      .flatMap(([, names = '', from = '']) =>
        namesIn(names).map((name) => [name, join(dirname(door), from)] as const),
      ),
  )
  read.set(door, files)
  return files
}

const read = new Map<string, ReadonlyMap<string, string>>()

/** The names of a list between the braces of an import or export, as the other module has them. */
export const namesIn = (list: string): readonly string[] =>
  list.split(',').flatMap((one) => {
    const name = one
      .replace(/(:| as ).*$/s, '')
      .replace('type ', '')
      .trim()
    return name === '' ? [] : [name]
  })
