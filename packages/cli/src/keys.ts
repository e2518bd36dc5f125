import { counted, type Purpose } from '@bursar/base'
import { describeSigningKeys } from '@bursar/oauth'
import { Command, Option } from 'commander'
import type { CredentialCommandDeps } from './client/shown-client.ts'
import { type CommonOptions, newCommand, oneOf } from './options.ts'
import { isoOf, printResult } from './output.ts'

/** `keys list|rotate|rotate-master`: the token signing keys, and the master key of the store. */
export function keysCommand(deps: CredentialCommandDeps): Command {
  return new Command('keys')
    .description('Manage the keys that tokens are signed with.')
    .addCommand(listCommand(deps))
    .addCommand(rotateCommand(deps))
    .addCommand(rotateMasterCommand(deps))
}

function listCommand(deps: CredentialCommandDeps): Command {
  const command = newCommand('list', 'List the token signing keys and their states.', ['keys list'])
  return command.action((options: CommonOptions) =>
    deps.withCredentials(command, options, async ({ keyring, clock }) => {
      const keys = describeSigningKeys(keyring, clock()).map(({ key, state }) => ({
        key_id: key.id,
        state,
        created_at: isoOf(key.createdAt),
        active_from: isoOf(key.activeFrom),
        revoked_at: isoOf(key.revokedAt),
        master_key_id: key.masterId,
      }))
      const lines = keys.map((key) => `${key.key_id}  ${key.state}  since ${key.active_from}`)
      printResult(deps, options, { keys }, lines)
    }),
  )
}

type RotateOptions = CommonOptions & { readonly revoke?: boolean; readonly purpose: Purpose }

function rotateCommand(deps: CredentialCommandDeps): Command {
  const command = newCommand('rotate', 'Create a new key. Running servers use it within 10 s.', [
    'keys rotate',
    'keys rotate --purpose cursor --revoke',
  ])
    .option('--revoke', 'Revoke the old keys, and everything made with them, at once.')
    .addOption(
      // `client-secret` is left out: revoking it would void every client's secret.
      oneOf(
        new Option(
          '--purpose <purpose>',
          'Which key to rotate: for tokens, page cursors or the audit log.',
        ).default('token-signing'),
        ['token-signing', 'cursor', 'audit'] satisfies Purpose[],
      ),
    )
  return command.action((options: RotateOptions) =>
    deps.withCredentials(command, options, async ({ keyring, audited }) => {
      const revokeOthers = options.revoke === true
      const key = await keyring.rotate(options.purpose, { revokeOthers })
      audited.note({ ids: [key.id] })
      const answer = { key_id: key.id, active_from: isoOf(key.activeFrom), revoked: revokeOthers }
      const effect = revokeOthers
        ? 'Everything made with older keys is refused.'
        : 'Everything made with the previous key stays valid until it expires.'
      const start = `Servers use ${key.id} from ${answer.active_from}.`
      printResult(deps, options, answer, [start, effect])
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
