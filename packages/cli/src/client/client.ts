import { Command } from 'commander'
import { createCommand } from './create-client.ts'
import { disableCommand } from './disable-client.ts'
import { listCommand } from './list-clients.ts'
import { rotateCommand } from './rotate-client.ts'
import type { CredentialCommandDeps } from './shown-client.ts'
import { updateCommand } from './update-client.ts'

/** `client create|list|update|rotate|disable`: the clients that may request tokens. */
export function clientCommand(deps: CredentialCommandDeps): Command {
  return new Command('client')
    .description('Manage the API clients of customers.')
    .addCommand(createCommand(deps))
    .addCommand(listCommand(deps))
    .addCommand(updateCommand(deps))
    .addCommand(rotateCommand(deps))
    .addCommand(disableCommand(deps))
}
