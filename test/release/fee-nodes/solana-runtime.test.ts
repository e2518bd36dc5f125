import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  AccountRole,
  type Address,
  address,
  appendTransactionMessageInstructions,
  createTransactionMessage,
  generateKeyPairSigner,
  getAddressEncoder,
  getProgramDerivedAddress,
  type Instruction,
  type KeyPairSigner,
  lamports,
  pipe,
  setTransactionMessageFeePayerSigner,
  signTransactionMessageWithSigners,
} from '@solana/kit'
import { FailedTransactionMetadata, LiteSVM } from 'litesvm'
import { costOf } from '../../../packages/fees/src/cost-model.ts'
import { scheduleWith } from '../../../packages/fees/test/sample-basis.ts'

/** Solana's runtime in this process. It shows what transactions really charge to an account. */
const plan = scheduleWith().networks.SOLANA
assert(plan.family === 'solana')
const { computeUnits, microLamportsPerUnit, rentLamports } = plan.rates

const systemProgram = address('11111111111111111111111111111111')
const computeBudget = address('ComputeBudget111111111111111111111111111111')
const tokenProgram = address('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA')
const accountProgram = address('ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL')

function little(units: bigint, bytes: number): Uint8Array {
  return Uint8Array.from({ length: bytes }, (_, index) =>
    Number((units >> BigInt(8 * index)) & 255n),
  )
}

const join = (...parts: readonly Iterable<number>[]): Uint8Array =>
  Uint8Array.from(parts.flatMap((part) => [...part]))

/** The two compute-budget instructions: the limit, and the price in micro-lamports a unit. */
const budget = (limit: bigint): Instruction[] => [
  { programAddress: computeBudget, data: join([2], little(limit, 4)) },
  { programAddress: computeBudget, data: join([3], little(microLamportsPerUnit, 8)) },
]

const transferSol = (from: KeyPairSigner, to: Address, units: bigint): Instruction => ({
  programAddress: systemProgram,
  accounts: [
    { address: from.address, role: AccountRole.WRITABLE_SIGNER },
    { address: to, role: AccountRole.WRITABLE },
  ],
  data: join(little(2n, 4), little(units, 8)),
})

async function runtime(): Promise<{ svm: LiteSVM; payer: KeyPairSigner }> {
  const svm = new LiteSVM()
  const payer = await generateKeyPairSigner()
  svm.airdrop(payer.address, lamports(10_000_000_000n))
  return { svm, payer }
}

/** Sends one transaction. Returns what its payer lost, or undefined if it failed. */
async function spend(
  svm: LiteSVM,
  payer: KeyPairSigner,
  instructions: readonly Instruction[],
): Promise<bigint | undefined> {
  const transaction = await pipe(
    createTransactionMessage({ version: 0 }),
    (message) => setTransactionMessageFeePayerSigner(payer, message),
    (message) => svm.setTransactionMessageLifetimeUsingLatestBlockhash(message),
    (message) => appendTransactionMessageInstructions(instructions, message),
    (message) => signTransactionMessageWithSigners(message),
  )
  const before = svm.getBalance(payer.address) ?? 0n
  const result = svm.sendTransaction(transaction)
  if (result instanceof FailedTransactionMetadata) return undefined
  return before - (svm.getBalance(payer.address) ?? 0n)
}

describe('Solana’s runtime', () => {
  it('charges the modelled cost for a transfer of SOL', async () => {
    const { svm, payer } = await runtime()
    const to = (await generateKeyPairSigner()).address
    const amount = 1_000_000_000n
    const lost = await spend(svm, payer, [
      ...budget(computeUnits.native),
      transferSol(payer, to, amount),
    ])
    assert.equal(lost, amount + costOf(plan.rates, 'native', 'wallet'))
  })

  it('refuses less than our minimum for a new account', async () => {
    const { svm, payer } = await runtime()
    const minimum = plan.nativeUnitsMin('wallet')
    const send = async (units: bigint) => {
      const to = (await generateKeyPairSigner()).address
      return spend(svm, payer, [transferSol(payer, to, units)])
    }
    assert.equal(await send(minimum - 1n), undefined)
    assert.equal(await send(minimum), minimum + 5_000n)
  })

  it('requires the schedule’s rent for token accounts', async () => {
    const { svm } = await runtime()
    assert.equal(svm.minimumBalanceForRentExemption(165n), rentLamports.spl)
    assert.equal(svm.minimumBalanceForRentExemption(187n), rentLamports.token2022)
  })

  it('charges the modelled cost for a token and a new recipient account', async () => {
    const { svm, payer } = await runtime()
    const mint = (await generateKeyPairSigner()).address
    const owner = (await generateKeyPairSigner()).address
    const source = await tokenAccount(payer.address, mint)
    const destination = await tokenAccount(owner, mint)
    installToken(svm, mint, source, payer.address)
    const instructions: Instruction[] = [
      ...budget(computeUnits.spl),
      {
        programAddress: accountProgram,
        accounts: [
          { address: payer.address, role: AccountRole.WRITABLE_SIGNER },
          { address: destination, role: AccountRole.WRITABLE },
          { address: owner, role: AccountRole.READONLY },
          { address: mint, role: AccountRole.READONLY },
          { address: systemProgram, role: AccountRole.READONLY },
          { address: tokenProgram, role: AccountRole.READONLY },
        ],
        data: Uint8Array.of(1),
      },
      {
        programAddress: tokenProgram,
        accounts: [
          { address: source, role: AccountRole.WRITABLE },
          { address: mint, role: AccountRole.READONLY },
          { address: destination, role: AccountRole.WRITABLE },
          { address: payer.address, role: AccountRole.READONLY_SIGNER },
        ],
        data: join([12], little(1_000_000n, 8), [6]),
      },
    ]
    const lost = await spend(svm, payer, instructions)
    assert.equal(lost, costOf(plan.rates, 'spl', 'wallet'))
    assert.equal(lost, 2_045_780n)
  })
})

async function tokenAccount(owner: Address, mint: Address): Promise<Address> {
  const encode = getAddressEncoder().encode
  const seeds = [encode(owner), encode(tokenProgram), encode(mint)]
  const [derived] = await getProgramDerivedAddress({ programAddress: accountProgram, seeds })
  return derived
}

/** A mint of six decimals and an account that holds 100 of it, in the token program's layout. */
function installToken(svm: LiteSVM, mint: Address, account: Address, owner: Address): void {
  const none = new Uint8Array(36)
  const encode = getAddressEncoder().encode
  const supply = little(100_000_000n, 8)
  const data = {
    mint: join(none, supply, [6, 1], none),
    account: join(encode(mint), encode(owner), supply, none, [1], new Uint8Array(12 + 8), none),
  }
  for (const [at, bytes] of [
    [mint, data.mint],
    [account, data.account],
  ] as const) {
    svm.setAccount({
      address: at,
      data: bytes,
      executable: false,
      lamports: lamports(10_000_000n),
      programAddress: tokenProgram,
      space: BigInt(bytes.length),
    })
  }
}
