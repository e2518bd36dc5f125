import {
  commandHint,
  counted,
  limitsOf,
  olderKeys,
  type Purpose,
  printable,
  resealedPurposes,
  systemTime,
} from '@bursar/base'
import { renewMarks } from '@bursar/oauth'
import type { Resealing } from '@bursar/records'
import type { Command } from 'commander'
import type { CredentialCommandDeps } from '../client/shown-client.ts'
import { type CommonOptions, newCommand } from '../options.ts'
import { CommandFailed, type Output, printResult } from '../output.ts'
import type { CredentialAccess } from '../with-stores.ts'

const limits = limitsOf({
  /** How often a walk says how far it is. */
  resealToldMs: 5000,
  /** Records that a walk names which do not open. */
  resealNamedMax: 20,
})

/** What a walk has done. */
export type Resealed = {
  readonly customers: number
  readonly records: number
  readonly numbers: number
  readonly clients: number
  /** Records, customers and clients that no key opens or confirms, which stay as they are. */
  readonly unopened: number
  /** Customers that came in between under an older key. Until they are brought over, none ends. */
  readonly left: number
  /** Purpose keys under which nothing is left, so that nothing is accepted under them any more. */
  readonly retired: readonly string[]
}

type Walking = Pick<CredentialAccess, 'store' | 'keyring' | 'clock' | 'resealing'> &
  Pick<Output, 'tell'>

export const isResealed = (purpose: Purpose): boolean =>
  resealedPurposes.some((resealed) => resealed === purpose)

export function resealCommand(deps: CredentialCommandDeps): Command {
  const command = newCommand(
    'reseal',
    'Bring what is stored under older keys to the current ones, and retire those. It goes on where it was cut off, beside running servers.',
    ['keys reseal'],
  )
  return command.action((options: CommonOptions) =>
    deps.withCredentials(command, options, async (access) => {
      const resealed = await resealAll({ ...access, tell: deps.tell })
      printResult(deps, options, resealed, linesOf(resealed))
    }),
  )
}

export const linesOf = ({ customers, records, numbers, clients, ...rest }: Resealed) => [
  `Brought ${counted(records, 'record')} of ${counted(customers, 'customer')}, ${counted(numbers, 'number')} of customers and ${counted(clients, 'client')} to the current keys.`,
  ...(rest.unopened > 0
    ? [`${rest.unopened} could not be read, and stay as they are. stderr names them.`]
    : []),
  ...(rest.left > 0
    ? [`${counted(rest.left, 'customer')} came in between. Run ${commandHint('keys reseal')}.`]
    : []),
  ...rest.retired.map((id) => `Nothing is accepted under ${id} any more.`),
]

/**
 * Brings everything to the current keys, once every server knows them. An older key is retired only
 * at the end, when nothing that it opens is left under it.
 */
export async function resealAll(walking: Walking): Promise<Resealed> {
  const { store, keyring, resealing, tell } = walking
  await keyring.reload()
  await untilActive(walking)
  const older = olderKeys(keyring, walking.clock())
  if (!(await resealing().untilWritersEnd())) {
    throw new CommandFailed(
      `an import or another transaction goes on that began before the new keys; run ${commandHint('keys reseal')} when it has ended`,
    )
  }
  const names = openNames(tell)
  const marks = await renewMarks({ store, keyring })
  for (const id of marks.refused) names.add(`client ${printable(id)} is not as it was stored`)
  let numbers = 0
  for await (const { bound, refused } of resealing().rebind()) {
    numbers += bound
    for (const id of refused) names.add(`the number of customer ${printable(id)} is not its own`)
  }
  const { customers, records, stuck } = await walk(resealing(), tell, names)
  // A process that stores under an older key now has not read the keys for seconds.
  const left = await resealing().customersLeft(stuck)
  const retired = left > 0 ? [] : older.map(({ id }) => id)
  if (retired.length > 0) await keyring.retire(retired)
  const counts = { customers, records, numbers, clients: marks.renewed }
  return { ...counts, unopened: names.count(), left, retired }
}

/** Brings the records of one customer to its current key. */
export async function resealCustomer(
  resealing: Resealing,
  tell: Output['tell'],
  customerId: string,
): Promise<{ readonly records: number; readonly unopened: number }> {
  const names = openNames(tell)
  const { records } = await walk(resealing, tell, names, customerId)
  return { records, unopened: names.count() }
}

async function walk(
  resealing: Resealing,
  tell: Output['tell'],
  names: Names,
  customerId?: string,
): Promise<{ customers: number; records: number; stuck: readonly string[] }> {
  const stuck = new Set<string>()
  let [customers, records] = [0, 0]
  let toldAt = systemTime.elapsedMs()
  for await (const step of resealing.walk(customerId)) {
    records += step.changed
    if (step.isStuck === true) {
      if (!stuck.has(step.customerId)) {
        names.add(
          `the key of ${printable(step.customerId)} does not open, or an erasure has destroyed it; ${commandHint('doctor')} says which`,
        )
      }
      stuck.add(step.customerId)
    } else if (step.isEnd) customers += 1
    for (const { kind, id } of step.unopened) {
      names.add(`${kind} ${printable(id)} of ${printable(step.customerId)} does not open`)
    }
    if (systemTime.elapsedMs() - toldAt < limits.resealToldMs) continue
    toldAt = systemTime.elapsedMs()
    const left = customerId === undefined ? await resealing.customersLeft() : 1
    tell(
      `${counted(records, 'record')} brought to the current keys, ${counted(left, 'customer')} left`,
    )
  }
  return { customers, records, stuck: [...stuck] }
}

/** Until then servers may not know a key. They read the keys more often than that. */
async function untilActive({ keyring, clock, tell }: Walking): Promise<void> {
  const all = resealedPurposes.flatMap((purpose) => keyring.all(purpose))
  const starts = all.filter((key) => key.revokedAt === undefined).map((key) => key.activeFrom)
  const leftMs = Math.max(...starts.map((at) => Number((at - clock()) / 1000n) + 1))
  if (leftMs <= 0) return
  tell(`waiting ${Math.ceil(leftMs / 1000)} s, until every server knows the new keys`)
  await systemTime.pause(leftMs)
}

type Names = ReturnType<typeof openNames>

/** Warns of what is not brought over, of a bounded number by name. */
function openNames(tell: Output['tell']) {
  let count = 0
  return {
    add: (what: string) => {
      count += 1
      if (count <= limits.resealNamedMax) tell(`warning: ${what}`)
    },
    count: () => count,
  }
}
