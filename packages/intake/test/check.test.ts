import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { cryptoNetworks } from '@bursar/base'
import { type RecordInput, type RecordKind, recordKinds } from '@bursar/contract'
import { requiredMembers } from '../../../test/support/contract.ts'
import { resourceOf, rules } from '../../../test/support/record-store.ts'
import {
  aDepositAddress,
  aFiatAccount,
  anIssuerQuote,
  aStatement,
  samples,
  someDepositInstructions,
} from '../../../test/support/records.ts'
import { encodeAddress } from '../../sandbox/src/encode-address.ts'
import { recordCheck } from '../src/check.ts'
import { renderRecord } from '../src/render.ts'

const shapes: Readonly<Record<RecordKind, string>> = {
  'fiat-accounts': 'FiatAccount',
  'fiat-deposit-instructions': 'FiatDepositInstructions',
  'deposit-addresses': 'DepositAddress',
  statements: 'Statement',
  'issuer-quote-executions': 'IssuerQuoteExecution',
}

/** The members that every record must have, and its customer. The importer adds an identity. */
const requiredIn = (kind: RecordKind): readonly string[] => {
  const members = new Set([...requiredMembers(shapes[kind]), 'customer_id'])
  return [...members].filter((member) => member !== 'identity_id')
}

function faultsOf(kind: RecordKind, value: unknown): string[] {
  const checked = recordCheck(resourceOf(kind), rules)(value)
  return 'faults' in checked
    ? checked.faults.map(({ member, reason }) => `${member}: ${reason}`)
    : []
}

for (const kind of recordKinds) {
  describe(kind, () => {
    test('accepts the smallest record', () => {
      assert.deepEqual(faultsOf(kind, samples[kind]()), [])
    })

    for (const member of requiredIn(kind)) {
      test(`refuses a record without ${member}`, () => {
        const { [member]: _left, ...record } = samples[kind]()
        assert.deepEqual(faultsOf(kind, record), [`${member}: must be given`])
      })
    }

    test('refuses an unknown member', () => {
      const [fault] = faultsOf(kind, samples[kind]({ nickname: 'x' }))
      assert.match(fault ?? '', /^nickname: is no member of [a-z-]+; take it out$/)
    })

    test('refuses a NUL and a lone surrogate in any member', () => {
      assert.deepEqual(faultsOf(kind, samples[kind]({ ref_id: 'a\u0000b' })), [
        'ref_id: must not contain a NUL',
      ])
      assert.deepEqual(faultsOf(kind, samples[kind]({ ref_id: 'a\uD800b' })), [
        'ref_id: must be well-formed Unicode',
      ])
    })

    test('refuses a value that is not an object', () => {
      for (const value of [null, 7, 'text', []]) {
        assert.deepEqual(
          faultsOf(kind, value),
          ['record: must be a JSON object'],
          JSON.stringify(value),
        )
      }
    })
  })
}

const cases: Readonly<Record<RecordKind, readonly (readonly [RecordInput, string])[]>> = {
  'fiat-accounts': [
    [{ id: 'x' }, 'id: must be a UUID'],
    [
      { status: 'approved' },
      'status: must be PENDING, APPROVED or REJECTED; did you mean APPROVED?',
    ],
    [{ ref_id: 'r'.repeat(201) }, 'ref_id: must be a text of 1 to 200 characters'],
    [{ ref_id: '' }, 'ref_id: must be a text of 1 to 200 characters'],
    [
      { created_at: '2026-12-31T23:59:60Z' },
      'created_at: must not be in a leap second (:60), which is not taken; send :59',
    ],
    [
      { deleted_at: '2027-01-01T00:59:60.5+01:00' },
      'deleted_at: must not be in a leap second (:60), which is not taken; send :59',
    ],
    [
      { created_at: '2026-01-01T00:00:00.1234567Z' },
      'created_at: must be an RFC 3339 date-time with at most six fraction digits, such as 2026-01-31T09:30:00.25Z',
    ],
    [
      { created_at: '2026-02-29T00:00:00Z' },
      'created_at: must be an RFC 3339 date-time with at most six fraction digits, such as 2026-01-31T09:30:00.25Z',
    ],
    [
      { metadata: { a: '1', b: '2', c: '3', d: '4', e: '5', f: '6', g: '7' } },
      'metadata: must be at most 6 pairs of texts, each key of 1 to 100 characters',
    ],
    [{ metadata: { a: 'x'.repeat(101) } }, 'metadata.a: must be a text of at most 100 characters'],
    [
      { metadata: { ['k'.repeat(101)]: 'x' } },
      `metadata.${'k'.repeat(100)}…: is a key of 101 characters; metadata must be at most 6 pairs of texts, each key of 1 to 100 characters`,
    ],
    [{ metadata: { a: 1 } }, 'metadata.a: must be a text of at most 100 characters'],
    [{ source_version: 1.5 }, 'source_version: must be a whole number from 0 to 9007199254740991'],
  ],
  'fiat-deposit-instructions': [
    [{ memo_id: 'memo000000000001' }, 'memo_id: must be 16 characters of A-Z and 0-9'],
    [
      { metadata: {}, fiat_network_instructions: { metadata: {} } },
      'fiat_network_instructions.metadata: must not be given beside metadata at the top level',
    ],
  ],
  'deposit-addresses': [
    [
      { crypto_network: 'DOGECOIN' },
      'crypto_network: must be BITCOIN, ETHEREUM, BITCOIN_CASH, LITECOIN, SOLANA, POLYGON_POS, BASE, ARBITRUM_ONE, STELLAR, INK or XLAYER',
    ],
    [{ conversion_target_asset: 'EUR' }, 'conversion_target_asset: must be NO_CONVERSION or USD'],
  ],
  statements: [
    [
      { type: 'STATEMENT_TYPE_OTHER' },
      'type: must be registered in the configuration; registered are STATEMENT_TYPE_USDG_REWARD',
    ],
    [
      { statement_balances: [{ asset: 'USDG', amount_paid: '1e3', total_amount_owed: '1' }] },
      'statement_balances.0.amount_paid: must be a string of decimal digits such as "12.50"',
    ],
  ],
  'issuer-quote-executions': [
    [{ principal: 100 }, 'principal: must be a string of decimal digits such as "12.50"'],
    [{ fee: '-1' }, 'fee: must be a string of decimal digits such as "12.50"'],
    [
      { token_principal: '+1' },
      'token_principal: must be a string of decimal digits such as "-12.50"',
    ],
  ],
}

const address = { country: 'USA', city: 'Boston' }
const routing = {
  routing_number_type: 'ABA',
  routing_number: '021000021',
  bank_name: 'First Sample Bank',
  bank_address: address,
}
const wire = {
  account_number: '12345678',
  fiat_account_owner_address: address,
  routing_details: routing,
}
const instructions: RecordInput = {
  wire: { ...wire, intermediary_routing_details: routing },
  rtp: {
    account_number: '12345678',
    routing_details: routing,
    fiat_account_owner_address: address,
  },
}

describe('a damaged identifier', () => {
  const rounded = 'is a number that was rounded, as spreadsheets do; give all of its digits'
  const notShown = 'is what a spreadsheet shows in place of a value; give the value'
  const damaged: Readonly<Record<string, string>> = {
    ...Object.fromEntries(
      ['5.73001E+09', '5,73001E+09', '-1E+15', '1e-05', '5.73e+20', '5.73001E9'].map((text) => [
        text,
        rounded,
      ]),
    ),
    ...Object.fromEntries(
      ['########', '#', '#REF!', '#N/A', '#DIV/0!', 'Err:502'].map((text) => [text, notShown]),
    ),
    'a\u200bb': 'has the invisible character U+200B',
    '\ufeff1': 'has the invisible character U+FEFF',
    '\u202e123': 'has the invisible character U+202E',
    '12\u00ad34': 'has the invisible character U+00AD',
    '1234\r': 'has the invisible character U+000D',
    'a\u{e0041}': 'has the invisible character U+E0041',
    '\u3164': 'has the invisible character U+3164',
  }
  for (const [text, reason] of Object.entries(damaged)) {
    test(`is refused: ${JSON.stringify(text)}`, () => {
      const record = samples['fiat-accounts']({
        ref_id: text,
        fiat_network_instructions: { wire: { ...wire, account_number: text } },
      })
      const member = 'fiat_network_instructions.wire.account_number'
      const faults = faultsOf('fiat-accounts', record)
      assert.deepEqual(faults.toSorted(), [`${member}: ${reason}`, `ref_id: ${reason}`])
    })
  }

  test('is none that only looks like one', () => {
    for (const text of ['5E9', '12E05', '1e5a', '#1', 'ref#', 'E+09', '5.73', 'Zürich 7', '٣']) {
      assert.deepEqual(faultsOf('fiat-accounts', samples['fiat-accounts']({ ref_id: text })), [])
    }
  })
})

describe('a routing number', () => {
  const faultOf = (routing_number_type: string, routing_number: string) => {
    const routing_details = { ...routing, routing_number_type, routing_number }
    const fiat_network_instructions = { wire: { ...wire, routing_details } }
    const [fault] = faultsOf(
      'fiat-accounts',
      samples['fiat-accounts']({ fiat_network_instructions }),
    )
    return fault?.replace('fiat_network_instructions.wire.routing_details.routing_number: ', '')
  }

  test('is an ABA number that a bank can have', () => {
    for (const number of ['011000015', '125000105', '211370545', '325280039', '655060042']) {
      assert.equal(faultOf('ABA', number), undefined, number)
    }
    for (const number of ['000000000', '130000006', '200000004', '500000005', '990012344']) {
      assert.match(String(faultOf('ABA', number)), /^is an ABA number that no bank has/, number)
    }
    assert.match(String(faultOf('ABA', '021000022')), /^must be nine digits/)
  })

  test('is a BIC of ISO 9362 where it is called SWIFT', () => {
    for (const bic of ['DEUTDEFF', 'DEUTDEFF500', 'EHRFDEF0XXX', 'PCBKXKPR', '1ABCUS33']) {
      assert.equal(faultOf('SWIFT', bic), undefined, bic)
    }
    for (const text of ['NOTASWIFT', 'deutdeff', 'DEUTDEFF5', 'DEUT DEFF', 'DEUTDEFF5000', '1']) {
      assert.match(String(faultOf('SWIFT', text)), /^must be a BIC as SWIFT has it/, text)
    }
    assert.match(String(faultOf('SWIFT', 'NOTASWIF')), /^is no BIC: SW, its fifth and sixth/)
  })
})

/** The members inside these networks that decisions, section 4, require. */
const requiredInside = [
  'wire.account_number',
  'wire.fiat_account_owner_address',
  'wire.routing_details',
  'wire.fiat_account_owner_address.country',
  'wire.routing_details.bank_address.country',
  ...['routing_number_type', 'routing_number', 'bank_name', 'bank_address'].flatMap((member) => [
    `wire.routing_details.${member}`,
    `wire.intermediary_routing_details.${member}`,
  ]),
  'rtp.account_number',
  'rtp.routing_details',
  'rtp.routing_details.routing_number',
  'rtp.routing_details.bank_address.country',
  'rtp.fiat_account_owner_address.country',
]

const optionalInside = [
  'wire.intermediary_routing_details',
  'wire.fiat_account_owner_address.city',
  'rtp.fiat_account_owner_address',
  'rtp.routing_details.routing_number_type',
  'rtp.routing_details.bank_name',
  'rtp.routing_details.bank_address',
  'wire',
  'rtp',
]

const addresses = [
  'wire.fiat_account_owner_address',
  'rtp.fiat_account_owner_address',
  'wire.routing_details.bank_address',
  'wire.intermediary_routing_details.bank_address',
  'rtp.routing_details.bank_address',
]

/** A copy in which the member at a dotted path has another value; undefined takes it out. */
function withMember(parent: RecordInput, path: string, value: unknown): RecordInput {
  const [member = '', ...rest] = path.split('.')
  const { [member]: old, ...others } = parent
  const inner = rest.length === 0 ? value : withMember(old as RecordInput, rest.join('.'), value)
  return inner === undefined ? others : { ...others, [member]: inner }
}

describe('fiat network instructions', () => {
  for (const kind of ['fiat-accounts', 'fiat-deposit-instructions'] as const) {
    const faultsWith = (path: string, value: unknown): string[] => {
      const networks = withMember(instructions, path, value)
      return faultsOf(kind, samples[kind]({ fiat_network_instructions: networks }))
    }

    test(`of ${kind} have every member that answers must have, and no null address`, () => {
      for (const path of requiredInside) {
        const fault = `fiat_network_instructions.${path}: must be given`
        assert.deepEqual(faultsWith(path, undefined), [fault])
      }
      for (const path of optionalInside) assert.deepEqual(faultsWith(path, undefined), [], path)
      for (const path of addresses) {
        const reason = 'must be an address with at least a country, not null'
        const fault = `fiat_network_instructions.${path}: ${reason}`
        assert.deepEqual(faultsWith(path, null), [fault])
      }
    })
  }
})

describe('a fault', () => {
  for (const kind of recordKinds) {
    for (const [over, fault] of cases[kind]) {
      test(fault, () => assert.deepEqual(faultsOf(kind, samples[kind](over)), [fault]))
    }
  }

  test('of a record that is nested 50,000 deep does not overflow the stack', () => {
    let deep: unknown = 'x'
    for (let depth = 0; depth < 50_000; depth += 1) deep = [deep]
    const [fault] = faultsOf('fiat-accounts', aFiatAccount({ extra: deep }))
    assert.match(
      fault ?? '',
      /^extra\..*: is nested too deeply; a record may have at most 10 levels$/,
    )
  })

  test('is reported where every pair of metadata has one', () => {
    const pairs = Array.from({ length: 100 }, (_, at) => [`${at}`.padEnd(501, 'k'), 'v'])
    const faults = faultsOf(
      'deposit-addresses',
      aDepositAddress({ metadata: Object.fromEntries(pairs) }),
    )
    assert.equal(faults.length, 100)
    assert.match(faults[0] ?? '', /^metadata\.\d+k+…: is a key of 501 characters; /)
  })

  for (const [member, value, reason] of [
    ['ref_id', 'x'.repeat(1001), 'has 1001 characters; a text may have at most 1000'],
    [
      'statement_balances',
      Array(1001).fill({}),
      'has 1001 entries; an array may have at most 1000',
    ],
    [
      'metadata',
      Object.fromEntries(Array.from({ length: 101 }, (_, at) => [`k${at}`, 'v'])),
      'has 101 members; an object may have at most 100',
    ],
    [
      'metadata.k',
      { ['k'.repeat(1001)]: 'v' },
      'has a name of 1001 characters; a name may have at most 1000',
    ],
  ] as const) {
    test(`of ${member} names the limit: ${reason}`, () => {
      const name = member.replace(/\..*/, '')
      const [fault] = faultsOf('statements', aStatement({ [name]: value }))
      assert.ok(fault?.startsWith(member) && fault.endsWith(reason), fault ?? 'no fault')
    })
  }

  test('of an amount over 100 characters is about its length alone', () => {
    const fee = '1'.repeat(101)
    assert.deepEqual(faultsOf('issuer-quote-executions', anIssuerQuote({ fee })), [
      'fee: must have at most 100 characters',
    ])
  })

  test('of a time is a blank where its + was lost, which only a query may have', () => {
    const [fault] = faultsOf(
      'fiat-accounts',
      aFiatAccount({ created_at: '2024-01-01T00:00:00 05:00' }),
    )
    assert.match(fault ?? 'no fault', /^created_at: must be an RFC 3339 date-time/)
  })

  test('of an amount with 80,000 digits is found without running its pattern', () => {
    const digits = '1'.repeat(80_000)
    assert.deepEqual(faultsOf('issuer-quote-executions', anIssuerQuote({ fee: `${digits}x` })), [
      'fee: has 80001 characters; a text may have at most 1000',
    ])
  })

  test('names what was probably meant by an unknown member and by an unknown word', () => {
    const address = { adress: 'x', crypto_network: 'ETHERIUM', createdAt: 'x', colour: 'red' }
    const faults = faultsOf('deposit-addresses', { ...samples['deposit-addresses'](), ...address })
    const hints = faults.map((fault) => fault.replace(/ (?:is no|must be).*?(?=; )/, ''))
    assert.deepEqual(hints.toSorted(), [
      'adress:; did you mean address?',
      'colour:; take it out',
      'createdAt:; did you mean created_at?',
      'crypto_network:; did you mean ETHEREUM?',
    ])
    const [type] = faultsOf(
      'statements',
      samples.statements({ type: 'STATEMENT_TYPE_USDG_REWARDS' }),
    )
    assert.match(type ?? '', /; did you mean STATEMENT_TYPE_USDG_REWARD\?$/)
  })

  test('shows the control and format characters of a name as escapes', () => {
    const [fault] = faultsOf('fiat-accounts', aFiatAccount({ 'a\u001b[2J\n\u202eb\u009b': 1 }))
    assert.equal(
      fault,
      'a\\u{1b}[2J\\u{a}\\u{202e}b\\u{9b}: is no member of fiat-accounts; take it out',
    )
  })

  test('is reported together with every other fault of the record', () => {
    const { status: _left, ...record } = aFiatAccount({ id: 'x', created_at: 'soon', extra: 1 })
    assert.equal(faultsOf('fiat-accounts', record).length, 4)
  })

  test('of an ABA number names a wrong length or checksum, also for an intermediary', () => {
    const wire = (routing_number: string) => {
      const { wire } = aFiatAccount().fiat_network_instructions as { wire: RecordInput }
      const routing = wire.routing_details as RecordInput
      return { wire: { ...wire, intermediary_routing_details: { ...routing, routing_number } } }
    }
    const member = 'fiat_network_instructions.wire.intermediary_routing_details.routing_number'
    for (const number of ['021000022', '02100002', '0210000210', '12100002１']) {
      assert.deepEqual(
        faultsOf('fiat-accounts', aFiatAccount({ fiat_network_instructions: wire(number) })),
        [`${member}: must be nine digits with a valid ABA checksum`],
        number,
      )
    }
  })

  test('of a deposit address names its network and a wrong checksum', () => {
    const [fault] = faultsOf(
      'deposit-addresses',
      aDepositAddress({ crypto_network: 'BITCOIN', address: '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb' }),
    )
    assert.match(fault ?? '', /^address: is no address on BITCOIN: /)
  })

  test('of a deposit address may name networks on which one key has the same address', () => {
    const families = [
      ['BITCOIN'],
      ['BITCOIN_CASH'],
      ['ETHEREUM', 'POLYGON_POS', 'BASE', 'ARBITRUM_ONE', 'INK', 'XLAYER'],
      ['LITECOIN'],
      ['SOLANA'],
      ['STELLAR'],
    ] as const
    assert.deepEqual(families.flat().toSorted(), cryptoNetworks.toSorted())
    for (const own of cryptoNetworks) {
      const address = encodeAddress(own, new Uint8Array(32).fill(7))
      const family: readonly string[] = families.find((one) => one.some((n) => n === own)) ?? []
      const named = [own, ...cryptoNetworks]
      const record = { crypto_network: own, address, compatible_crypto_networks: named }
      const others = named.flatMap((network, at) =>
        family.includes(network)
          ? []
          : `compatible_crypto_networks[${at}]: names ${network}, where ${address} cannot receive: its addresses are not those of ${own}`,
      )
      assert.deepEqual(faultsOf('deposit-addresses', aDepositAddress(record)), others)
    }
  })
})

describe('rendering', () => {
  const rendered = (kind: RecordKind, record: RecordInput) => {
    const { full } = renderRecord(resourceOf(kind), record, 1)
    return { full: JSON.parse(full) }
  }

  test('keeps amounts unchanged and prints times in UTC with the fewest digits', () => {
    const { full } = rendered(
      'issuer-quote-executions',
      anIssuerQuote({ principal: '00.50', created_at: '2026-01-01t01:30:00.100000+01:00' }),
    )
    assert.equal(full.principal, '00.50')
    assert.equal(full.created_at, '2026-01-01T00:30:00.100Z')
  })

  test('keeps a metadata key with the name __proto__', () => {
    const record = JSON.parse(
      JSON.stringify(aStatement()).slice(0, -1).concat(',"metadata":{"__proto__":"x"}}'),
    )
    const { full } = renderRecord(resourceOf('statements'), record, 1)
    assert.ok(full.includes('"metadata":{"__proto__":"x"}'))
  })

  test('moves owner and metadata of deposit instructions to the top level', () => {
    const owner = { institution_details: { name: 'Example' } }
    const { full } = rendered(
      'fiat-deposit-instructions',
      someDepositInstructions({
        fiat_network_instructions: {
          cubix: { account_id: 'c' },
          fiat_account_owner: owner,
          metadata: { a: 'b' },
        },
      }),
    )
    assert.deepEqual(full.fiat_account_owner, owner)
    assert.deepEqual(full.metadata, { a: 'b' })
    assert.deepEqual(full.fiat_network_instructions, { cubix: { account_id: 'c' } })
    assert.equal(full.identity_id, '00000000-0000-0000-0000-000000000000')
  })

  test('leaves out a null person, also one inside the networks', () => {
    const institution_details = { name: 'Example' }
    const owner = { person_details: null, institution_details }
    for (const record of [
      { fiat_account_owner: owner },
      { fiat_network_instructions: { fiat_account_owner: owner } },
    ]) {
      const { full } = rendered('fiat-deposit-instructions', someDepositInstructions(record))
      assert.deepEqual(full.fiat_account_owner, { institution_details })
    }
    const { full } = rendered(
      'fiat-accounts',
      aFiatAccount({ fiat_account_owner: { person_details: null } }),
    )
    assert.deepEqual(full.fiat_account_owner, {})
  })

  test('adds the network of an address to its compatible networks', () => {
    const { full } = rendered(
      'deposit-addresses',
      aDepositAddress({ compatible_crypto_networks: ['BASE', 'BASE'] }),
    )
    assert.deepEqual(full.compatible_crypto_networks, ['ETHEREUM', 'BASE'])
  })
})
