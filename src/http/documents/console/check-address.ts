import assert from 'node:assert/strict'
import type { Body } from '../../../contract/operation.ts'
import { jsonAnswer, type Route } from '../../../contract/request.ts'
import { addressPolicy } from '../../../fees/addresses/address-policy.ts'
import { checkAddress } from '../../../fees/addresses/check-address.ts'
import { cryptoWithdrawal } from '../../../operations/create-crypto-withdrawal-fee.ts'
import type { Config } from '../../../platform/config.ts'
import { isCryptoNetwork } from '../../../values/network.ts'
import { readBody } from '../../pipeline/read-body.ts'

/**
 * Judges an address while somebody types it, as the quote will. It quotes nothing and tells nothing
 * about anybody, so it needs no token.
 */
export const checkAddressRoute = (
  config: Pick<Config, 'addressTestnets' | 'requireEvmChecksum'>,
): Route => ({
  method: 'POST',
  path: '/console/check-address',
  operation: 'checkAddress',
  answer: (request) => {
    const given = readBody(body, request.body)
    const network = given.get('crypto_network')
    assert(isCryptoNetwork(network), 'the declaration of the body requires a network')
    const policy = { ...addressPolicy(config), quick: true }
    const check = checkAddress(network, given.get('destination_address') ?? '', policy)
    const verdict = check.valid ? { valid: true } : { valid: false, detail: check.detail }
    return jsonAnswer(verdict, { 'cache-control': 'no-store' })
  },
})

const names = ['crypto_network', 'destination_address']
const quoted = Object.entries(cryptoWithdrawal.members)

const body: Body = {
  members: Object.fromEntries(quoted.filter(([name]) => names.includes(name))),
  required: names,
}
