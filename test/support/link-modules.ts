import { mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'

/** Gives a copy of the repository the libraries of this one, and its own packages. */
export function linkModules(copy: string): void {
  const [from, to] = [join(process.cwd(), 'node_modules'), join(copy, 'node_modules')]
  mkdirSync(join(to, '@bursar'), { recursive: true })
  for (const name of readdirSync(from)) {
    if (name !== '@bursar') symlinkSync(join(from, name), join(to, name))
  }
  for (const name of readdirSync(join(copy, 'packages'))) {
    symlinkSync(join(copy, 'packages', name), join(to, '@bursar', name))
  }
}
