import { commandHint, type Secret } from '@bursar/base'
import type { Refused } from '@bursar/oauth'
import { type Client, NothingChanged, StoreUnavailable } from '@bursar/records'
import type { Command } from 'commander'
import type { CommonOptions } from '../options.ts'
import { CommandFailed, linesOf, type Output, resultLines } from '../output.ts'
import type { WithCredentials } from '../with-stores.ts'

export type CredentialCommandDeps = Pick<Output, 'print' | 'reveal' | 'tell'> & {
  readonly withCredentials: WithCredentials
}

/** The result, or the end of the command with the reason of the refusal. */
export function acceptedOf<T extends object>(command: Command, outcome: T | Refused): T {
  if ('refused' in outcome) return command.error(outcome.refused, { exitCode: 1 })
  return outcome
}

/** Runs before the secret is stored, so it prints all that the command has to say. */
export async function reveal(
  output: CredentialCommandDeps,
  options: CommonOptions,
  { client, secret }: { readonly client: Client; readonly secret: Secret },
  more: Readonly<Record<string, string | null>> = {},
): Promise<void> {
  const record = {
    client_id: client.id,
    client_secret: secret.reveal(),
    ...describe(client),
    ...more,
  }
  const lines = [...linesOf(record), 'The secret is not shown again.']
  await output.reveal(resultLines(options, record, lines).join('\n'))
}

/** The secret may be on the screen by now, so a failure says whether it may be in force. */
export async function storing<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error
    throw new CommandFailed(
      error instanceof NothingChanged
        ? `${error.message}; a secret that was shown is not in force, so try again`
        : `${error.message}; a client or secret that was shown may be in force: check ${commandHint('client list')}, and disable the client or rotate its secret`,
    )
  }
}

/** What every command shows of a client. */
export function describe({ customerId, boundTo, name, scopes, method }: Client) {
  const bound = boundTo === null ? {} : { bound_to: boundTo }
  const record = { customer_id: customerId, ...bound, name, scope: scopes.join(' ') }
  if (method.kind !== 'issuer') return record
  return { ...record, issuer: method.issuer, external_id: method.externalId }
}

/** The scopes of an option. */
export const scopesIn = (text: string): readonly string[] =>
  text.split(/[\s,]+/).filter((scope) => scope !== '')
