import { Command, Option } from 'commander'
import { describeSigningKeys } from '../oauth/tokens/signing-keys.ts'
import type { Purpose } from '../vault/purpose-key.ts'
import { type CredentialCommandDeps, isoOf, storeCommand, withCredentials } from './client.ts'
import type { CommonOptions } from './options.ts'

/** `keys list|rotate|rewrap`: what tokens are signed with, and what keeps every key of the store sealed. */
export function keysCommand(sources: CredentialCommandDeps): Command {
  return new Command('keys')
    .description('Manage the keys that tokens are signed with.')
    .addCommand(listCommand(sources))
    .addCommand(rotateCommand(sources))
    .addCommand(rewrapCommand(sources))
}

function listCommand(sources: CredentialCommandDeps): Command {
  const command = storeCommand('list', 'Show the token signing keys and where each stands.')
  return command.action((options: CommonOptions) =>
    withCredentials(sources, options, async ({ keyring, clock }) => {
      const keys = describeSigningKeys(keyring, clock()).map(({ key, state }) => ({
        key_id: key.id,
        state,
        created_at: isoOf(key.createdAt),
        active_from: isoOf(key.activeFrom),
        revoked_at: isoOf(key.revokedAt),
        master_key_id: key.masterId,
      }))
      if (options.json === true) return sources.print(JSON.stringify({ keys }))
      for (const { key_id, state, active_from } of keys) {
        sources.print(`${key_id}  ${state}  since ${active_from}`)
      }
    }),
  )
}

type RotateOptions = CommonOptions & { readonly revoke?: boolean; readonly purpose: Purpose }

function rotateCommand(sources: CredentialCommandDeps): Command {
  const command = storeCommand('rotate', 'Make a new key; running servers use it within 10 s.')
    .option('--revoke', 'refuse the old keys, and what was made with them, at once')
    .addOption(
      // The key that secrets are hashed under is not among them: revoking it would void every client's secret.
      new Option('--purpose <purpose>', 'which key: of tokens, or of page cursors')
        .choices(['token-signing', 'cursor'] satisfies Purpose[])
        .default('token-signing'),
    )
  return command.action((options: RotateOptions) =>
    withCredentials(sources, options, async ({ keyring }) => {
      const revokeOthers = options.revoke === true
      const key = await keyring.rotate(options.purpose, { revokeOthers })
      const answer = { key_id: key.id, active_from: isoOf(key.activeFrom), revoked: revokeOthers }
      if (options.json === true) return sources.print(JSON.stringify(answer))
      sources.print(`${key.id} is used from ${answer.active_from} on.`)
      sources.print(
        revokeOthers
          ? 'What was made with the keys before it is refused.'
          : 'What was made with the key before it stays good until it expires.',
      )
    }),
  )
}

function rewrapCommand(sources: CredentialCommandDeps): Command {
  const command = storeCommand(
    'rewrap',
    'Wrap every key of the store under BURSAR_MASTER_KEY, opening those of BURSAR_MASTER_KEY_PREVIOUS.',
  )
  return command.action((options: CommonOptions) =>
    withCredentials(sources, options, async ({ keyring }) => {
      const rewrapped = await keyring.rewrap()
      const { masterId } = keyring.current('token-signing')
      if (options.json === true) {
        return sources.print(JSON.stringify({ rewrapped, master_key_id: masterId }))
      }
      sources.print(`${rewrapped} keys were wrapped anew; all are under master key ${masterId}.`)
    }),
  )
}
