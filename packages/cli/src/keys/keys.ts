import { counted, type Keyring, type Purpose, type PurposeKey, purposes } from '@bursar/base'
import { describeSigningKeys } from '@bursar/oauth'
import type { ClientWithSecrets } from '@bursar/records'
import { Command, Option } from 'commander'
import type { CredentialCommandDeps } from '../client/shown-client.ts'
import { type CommonOptions, newCommand, oneOf } from '../options.ts'
import { CommandFailed, isoOf, printResult } from '../output.ts'
import { isResealed, linesOf, resealAll, resealCommand } from './reseal.ts'

/** `keys list|rotate|reseal|rotate-master`: the keys of a store, and its master key. */
export function keysCommand(deps: CredentialCommandDeps): Command {
  return new Command('keys')
    .description('Manage the keys that tokens are signed with, and all other keys of the store.')
    .addCommand(listCommand(deps))
    .addCommand(rotateCommand(deps))
    .addCommand(resealCommand(deps))
    .addCommand(rotateMasterCommand(deps))
}

function listCommand(deps: CredentialCommandDeps): Command {
  const command = newCommand(
    'list',
    'List the keys of the store, their states, and how much is stored under each.',
    ['keys list'],
  )
  return command.action((options: CommonOptions) =>
    deps.withCredentials(command, options, async ({ store, keyring, clock, resealing }) => {
      const clients = await store.listClients()
      const under = new Map([...(await resealing().countUnderKeys()), ...countClients(clients)])
      const keys = listed.flatMap((purpose) =>
        describeKeys(keyring, purpose, clock()).map(({ key, state }) => ({
          key_id: key.id,
          purpose,
          state,
          created_at: isoOf(key.createdAt),
          active_from: isoOf(key.activeFrom),
          revoked_at: isoOf(key.revokedAt),
          master_key_id: key.masterId,
          ...(isCounted(purpose) && { stored: under.get(key.id) ?? 0 }),
        })),
      )
      const lines = keys.map(({ key_id, purpose, state, active_from, stored }) => {
        const count = stored === undefined ? '' : `  ${stored} stored under it`
        return `${key_id}  ${purpose}  ${state}  since ${active_from}${count}`
      })
      printResult(deps, options, { keys }, lines)
    }),
  )
}

/** Those of tokens come first. */
const listed: readonly Purpose[] = [...new Set<Purpose>(['token-signing', ...purposes])]

/** Of the others nothing is stored. A row of an import keeps its key until it is deleted. */
const isCounted = (purpose: Purpose) =>
  isResealed(purpose) || purpose === 'client-secret' || purpose === 'import'

/** How many clients are marked, and how many secrets are hashed, with each key. */
function countClients(clients: readonly ClientWithSecrets[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const { seal, secrets } of clients) {
    for (const text of [seal, ...secrets.map(({ hash }) => hash)]) {
      const [, id = ''] = text.split(':')
      counts.set(id, (counts.get(id) ?? 0) + 1)
    }
  }
  return counts
}

type Described = { readonly key: PurposeKey; readonly state: string }

/** A `next` key is not in use yet. What an `older` key has made is still accepted. */
function describeKeys(keyring: Keyring, purpose: Purpose, now: bigint): readonly Described[] {
  if (purpose === 'token-signing') return describeSigningKeys(keyring, now)
  const { id: current } = keyring.current(purpose)
  return keyring.all(purpose).map((key) => {
    if (key.revokedAt !== undefined) return { key, state: 'revoked' }
    if (key.id === current) return { key, state: 'current' }
    return { key, state: key.activeFrom > now ? 'next' : 'older' }
  })
}

type RotateOptions = CommonOptions & {
  readonly revoke?: boolean
  readonly all?: boolean
  readonly purpose: Purpose
}

/** Without `client-secret`: its key opens no hash of 256 random bits. */
const renewedTogether = purposes.filter((purpose) => purpose !== 'client-secret')

function rotateCommand(deps: CredentialCommandDeps): Command {
  const command = newCommand(
    'rotate',
    'Create a new key. Running servers use it within 10 s. What is stored under the key before it is brought to the new one, beside running servers.',
    [
      'keys rotate',
      'keys rotate --purpose cursor --revoke',
      'keys rotate --purpose customer-key',
      'keys rotate --all --revoke',
    ],
  )
    .option('--revoke', 'Use the old keys for nothing new, and refuse tokens and cursors of them.')
    .option('--all', 'Rotate the keys of every purpose but client-secret.')
    .addOption(
      oneOf(
        new Option('--purpose <purpose>', 'Which key to rotate.').default('token-signing'),
        purposes,
      ),
    )
  return command.action((options: RotateOptions) =>
    deps.withCredentials(command, options, async (access) => {
      const { keyring, audited } = access
      const revoked = options.revoke === true
      if (revoked && options.all !== true && options.purpose === 'client-secret') {
        throw new CommandFailed(
          'that would void every secret; without --revoke each is hashed with the new key when its client next gets a token',
        )
      }
      const rotated = options.all === true ? renewedTogether : [options.purpose]
      const keys: PurposeKey[] = []
      for (const purpose of rotated) {
        // What is stored under a key that is brought over opens until that has ended.
        const revokeOthers = revoked && !isResealed(purpose)
        keys.push(await keyring.rotate(purpose, { revokeOthers }))
        audited.note({ ids: keys.map(({ id }) => id) })
      }
      const resealed = rotated.some(isResealed)
        ? await resealAll({ ...access, tell: deps.tell })
        : undefined
      const answers = keys.map(({ id, purpose, activeFrom }) => {
        return { key_id: id, purpose, active_from: isoOf(activeFrom), revoked }
      })
      const [only] = answers
      const document = options.all === true ? { keys: answers, revoked } : { ...only }
      const effect = revoked
        ? 'Everything made with older keys is refused.'
        : 'Everything made with the previous key stays valid until it expires.'
      printResult(deps, options, { ...document, ...(resealed && { resealed }) }, [
        ...answers.map(
          ({ key_id, purpose, active_from }) =>
            `Servers use ${key_id} for ${purpose} from ${active_from}.`,
        ),
        ...(rotated.every(isResealed) ? [] : [effect]),
        ...(resealed === undefined ? [] : linesOf(resealed)),
      ])
    }),
  )
}

function rotateMasterCommand(deps: CredentialCommandDeps): Command {
  const command = newCommand(
    'rotate-master',
    'Wrap every key of the store with BURSAR_MASTER_KEY. It also opens keys wrapped with BURSAR_MASTER_KEY_PREVIOUS. Servers need both meanwhile.',
    ['keys rotate-master'],
  )
  return command.action((options: CommonOptions) =>
    deps.withCredentials(command, options, async ({ keyring }) => {
      const rewrapped = await keyring.rewrap()
      const { masterId } = keyring.current('token-signing')
      printResult(deps, options, { rewrapped, master_key_id: masterId }, [
        `Wrapped ${counted(rewrapped, 'key')}. Every key is now wrapped with master key ${masterId}.`,
        'Restart each server without BURSAR_MASTER_KEY_PREVIOUS. Backups from before need the old key.',
      ])
    }),
  )
}
