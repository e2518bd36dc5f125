import { Command } from 'commander'
import type { Output } from '../output.ts'
import { eraseCommand } from './erase-customer.ts'
import { listCommand } from './list-customers.ts'
import { erasuresCommand } from './list-erasures.ts'
import { nameCommand } from './name-customer.ts'
import { newKeyCommand, rotateKeyCommand } from './rotate-key.ts'

/** `customer list|name|erase|erasures|rotate-key|new-key`: customers as a whole. */
export const customerCommand = (output: Output): Command =>
  new Command('customer')
    .description('List customers, name one, erase one, and renew its key.')
    .addCommand(listCommand(output))
    .addCommand(nameCommand(output))
    .addCommand(eraseCommand(output))
    .addCommand(erasuresCommand(output))
    .addCommand(rotateKeyCommand(output))
    .addCommand(newKeyCommand(output))
