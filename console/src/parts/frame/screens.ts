import { kinds } from '../../kinds/kinds.ts'
import { mayRead, type Session } from '../../session/console-session.ts'
import type { IconName } from '../../values/icon.tsx'

/** A screen of the navigation. */
export type Screen = {
  readonly title: string
  /** The word for a narrow bar. */
  readonly short: string
  readonly icon: IconName
  /** The key after `G`. */
  readonly key: string
  readonly to: readonly string[]
  readonly group: 'Start' | 'Records' | 'Service'
}

/** The screens that somebody may open, in the order of the navigation. */
export function screensOf(session: Session): readonly Screen[] {
  const staff: readonly Screen[] = [
    screen('Overview', 'home', 'o', [], 'Start'),
    screen('Find', 'search', '/', ['find'], 'Start'),
    screen('Customers', 'users', 'c', ['customers'], 'Start'),
  ]
  const records = kinds
    .filter(({ scope }) => mayRead(session, scope))
    .map(({ title, name, icon, key }) => screen(title, icon, key, ['list', name], 'Records'))
  const service = session.scopes.has('ingest:read_health')
    ? [screen('Health', 'pulse', 'h', ['health'], 'Service')]
    : []
  return [
    ...(session.isStaff ? staff : [screen('Find', 'search', '/', [], 'Start')]),
    ...records,
    screen('Withdrawal fees', 'fee', 'f', ['fees'], 'Records'),
    ...service,
  ]
}

const screen = (
  title: string,
  icon: IconName,
  key: string,
  to: readonly string[],
  group: Screen['group'],
): Screen => ({ title, short: title.replace(/^Fiat a/, 'A'), icon, key, to, group })

export const isAt = ({ to }: Screen, path: readonly string[]): boolean => {
  const [name, kind] = path
  const own = name === 'record' ? ['list', kind] : path.slice(0, 2)
  return to.join('/') === own.join('/')
}
