import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe } from 'node:test'
import type { Page } from 'playwright-core'
import { fixtureIds } from '../../src/sandbox/story.ts'
import { operatorToken } from '../support/operator-token.ts'
import { browserTest, columnOf, openBrowsing } from './support/browse.ts'
import { compareDecimals } from './support/compare-decimals.ts'

/** What each screen promises, in a real browser. */

const browsing = openBrowsing()

async function signedIn(name?: string) {
  const opened = await browsing.newPage()
  await opened.signIn(name)
  return opened
}

const rowCount = (page: Page) => page.locator('.scroll tbody tr').count()
const rows = (page: Page) => page.locator('.scroll tbody tr').first().waitFor()
const clipboard = (page: Page) => page.evaluate(() => navigator.clipboard.readText())

describe('Find', () => {
  browserTest('a pasted memo leads to its customer with one key', async () => {
    const { page, faults } = await signedIn()
    assert.equal(await page.evaluate(() => document.activeElement?.id), 'find')
    await page.evaluate(() => navigator.clipboard.writeText('SANDBOXMEMO00001'))
    await page.keyboard.press('Control+V')
    await page.locator('.hits tbody tr').waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'set of deposit instructions' }).waitFor()
    assert.equal(await page.locator('.customer input').inputValue(), 'acme')
    await page.keyboard.press('c')
    assert.equal(await clipboard(page), fixtureIds['fiat-deposit-instructions'])
    await page.keyboard.press('/')
    await page.locator('#find').waitFor()
    assert.equal(await page.evaluate(() => document.activeElement?.id), 'find')
    await page.getByRole('heading', { name: 'Recent look-ups' }).waitFor()
    assert.deepEqual(faults, [])
  })

  browserTest('of several hits, the arrows select, c copies and Enter opens', async () => {
    const { page } = await signedIn()
    const { body } = await browsing.service.call('/v2/transfer/deposit-addresses?limit=1')
    const [{ identity_id: identity }] = body.items
    await page.keyboard.type(identity)
    await page.keyboard.press('Enter')
    await page.locator('.hits tbody tr:focus').waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('c')
    const id = await page.locator('.hits tbody tr:focus').getAttribute('data-id')
    assert.equal(await clipboard(page), id)
    await page.keyboard.press('Enter')
    await page.locator(`article[data-id="${id}"]`).waitFor()
  })

  browserTest('a customer’s client finds its own records by any identifier', async () => {
    const { page, faults } = await signedIn('Borealis')
    const { body } = await browsing.service.call('/v2/transfer/deposit-addresses?limit=1', {
      token: await browsing.service.tokenOf({
        customerId: 'borealis',
        clientId: 'borealis_sandbox',
        clientSecret: 'bursar_sandbox_secret_of_borealis',
      }),
    })
    const [{ address, id }] = body.items
    await page.keyboard.type(address)
    await page.keyboard.press('Enter')
    await page.locator(`article[data-id="${id}"]`).waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type(fixtureIds['fiat-accounts'])
    await page.keyboard.press('Enter')
    await page.getByText(/^Nothing has this identifier/).waitFor()
    assert.deepEqual(faults, [])
  })
})

describe('lists', () => {
  browserTest(
    'filters, order and page are in the URL, which opens the same list again',
    async () => {
      const { page, open } = await signedIn()
      await open('#/list/issuer-quote-executions?customer=acme')
      await rows(page)
      await page.getByText('Filters and order').click()
      await page.getByLabel('Status').selectOption('FAILED')
      await page.getByLabel('Rows').selectOption('20')
      await page.getByRole('button', { name: 'Apply' }).click()
      await page.waitForURL(/status=FAILED/)
      await page.getByRole('button', { name: 'Next page' }).click()
      await page.waitForURL(/page_cursor=/)
      await rows(page)
      const ids = () =>
        page.locator('.scroll tbody tr').evaluateAll((all) => all.map((row) => row.dataset.id))
      await page.waitForFunction(() => document.querySelectorAll('.scroll tbody tr').length === 20)
      const before = await ids()
      assert.ok((await columnOf(page, 'Status')).every((text) => text.includes('FAILED')))
      await page.reload()
      await rows(page)
      assert.deepEqual(await ids(), before)
    },
  )

  browserTest(
    'statements show owed beside paid, in the order of the list, and a chart by period',
    async () => {
      const { page, open } = await signedIn()
      await open('#/list/statements?customer=acme&sort=-shortfall')
      await rows(page)
      const starts = await columnOf(page, 'Period from')
      assert.equal(starts.length, 50)
      assert.deepEqual(starts, starts.toSorted().reverse())
      // A heading that sorts has the attribute, also where nothing is sorted yet.
      assert.equal(await page.locator('.scroll th[aria-sort]').count(), 0)
      await page.getByText('A column sorts where one page holds all rows.').waitFor()
      await page.getByText(/^Chart of the 50 loaded rows$/).click()
      await page.locator('figcaption', { hasText: 'USDG by period' }).waitFor()
      const bars = await page.locator('.chart').first().locator('td').count()
      const periods = await page.locator('.chart').first().locator('tbody th').count()
      assert.equal(bars, 2 * periods)
    },
  )

  browserTest('a list whose rows are all on one page sorts by a column', async () => {
    const { page, open } = await signedIn()
    await open('#/list/statements?customer=acme&limit=1000')
    await rows(page)
    await page.getByRole('columnheader', { name: 'Shortfall' }).click()
    await page.getByRole('columnheader', { name: 'Shortfall' }).click()
    await page.waitForURL(/sort=-shortfall/)
    const largest = (await columnOf(page, 'Shortfall')).map((text) =>
      text === '' ? '0' : (text.replaceAll(',', '').split(' ')[0] ?? '0'),
    )
    assert.ok(largest.length > 50 && largest[0] !== '0')
    const sorted = largest.toSorted((one, other) => compareDecimals(other, one))
    assert.deepEqual(largest, sorted)
  })

  browserTest('columns and views are kept for the person', async () => {
    const { page, open } = await signedIn()
    await open('#/list/statements?customer=acme&statuses=STATEMENT_STATUS_PAID')
    await rows(page)
    await page.getByRole('button', { name: 'Columns' }).click()
    await page.getByLabel('Product').check()
    await page.keyboard.press('Escape')
    assert.ok((await columnOf(page, 'Product')).includes('USDG_REWARDS'))
    await page.getByRole('button', { name: 'Views' }).click()
    await page.getByLabel('Save these filters as').fill('paid')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.keyboard.press('Escape')
    await open('#/list/statements?customer=acme')
    await page.getByRole('button', { name: 'Views (1)' }).click()
    await page.getByRole('link', { name: 'paid' }).click()
    await page.waitForURL(/statuses=STATEMENT_STATUS_PAID/)
    await rows(page)
    assert.ok((await columnOf(page, 'Status')).every((text) => text.includes('PAID')))
    assert.ok((await columnOf(page, 'Product')).length > 0)
  })

  browserTest(
    'the file has all matching rows, and no cell that a spreadsheet would run',
    async () => {
      const { page, open } = await signedIn()
      await open('#/list/deposit-addresses?customer=acme&limit=20')
      await rows(page)
      assert.equal(await rowCount(page), 20)
      // The headless browser shows no dialog that asks for a place.
      await page.evaluate('delete window.showSaveFilePicker')
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: 'Export CSV' }).click(),
      ])
      const lines = readFileSync(String(await download.path()), 'utf8').split('\r\n')
      assert.equal(lines.length, 1 + 1000 + 1)
      assert.match(String(lines[0]), /^\uFEFFcrypto_network,address,/)
      await page.getByText('1000 rows were written.').waitFor()
    },
  )

  browserTest('the copied command answers the list that is shown', async () => {
    const { page, open } = await signedIn('Acme')
    await open('#/list/issuer-quote-executions?limit=20&status=FAILED')
    await rows(page)
    await page.getByRole('button', { name: 'Copy as curl' }).click()
    const [, path = ''] = /'https?:\/\/[^/]+(.*)'$/.exec(await clipboard(page)) ?? []
    const { body } = await browsing.service.call(path)
    assert.equal(body.issuer_quote_executions.length, await rowCount(page))
  })
})

describe('records', () => {
  browserTest('an account shows its full number on request, a slip and its history', async () => {
    const { page, open, faults } = await signedIn()
    await open(`#/record/fiat-accounts/${fixtureIds['fiat-accounts']}?customer=acme`)
    await page.getByText('XXXXXX8846').first().waitFor()
    await page.getByRole('button', { name: 'Show full account number' }).click()
    await page.getByText('5730008846').first().waitFor()
    const slip = page.locator('.slip')
    assert.match(String(await slip.textContent()), /5730008846.*First Sample Bank/)
    await slip.locator('canvas.qr').waitFor()
    await page.getByRole('button', { name: 'Show history' }).click()
    await page.getByText('The oldest version that is kept.').waitFor()
    await page.getByRole('button', { name: 'Hide account number' }).click()
    await page.getByText('XXXXXX8846').first().waitFor()
    assert.ok(!(await page.locator('main').textContent())?.includes('5730008846'))
    assert.deepEqual(faults, [])
  })

  browserTest('an instant from before records were kept shows that it is unknown', async () => {
    const { page, open } = await signedIn()
    await open(
      `#/record/statements/${fixtureIds.statements}?customer=acme&as_of=2020-01-01T00:00:00Z`,
    )
    await page
      .getByText(
        /^What was stored at that time is unknown: statements of this customer are kept since 20.*; earlier states are unknown\.$/,
      )
      .waitFor()
    assert.equal(await page.getByText('no such record').count(), 0)
    assert.equal(await page.getByRole('button', { name: 'Try again' }).count(), 0)
    await page.getByRole('button', { name: /^As of 2020/ }).click()
    await page.getByRole('button', { name: 'Show now' }).click()
    await page.getByText('27951.652136').first().waitFor()
  })

  browserTest('a deposit address shows its owner, its validity and a code', async () => {
    const { page, open } = await signedIn()
    await open(`#/record/deposit-addresses/${fixtureIds['deposit-addresses']}?customer=acme`)
    await page.getByText('✓ A valid address on BITCOIN.').waitFor()
    await page.getByText('identity_id').waitFor()
    await page.locator('canvas.qr').waitFor()
  })
})

browserTest('a customer asks for a fee with its amount, and sees how long it holds', async () => {
  const { page, open, faults } = await signedIn('Acme')
  await open('#/fees')
  await page.getByLabel('To address').fill('0xF0Aa84466e353E5390be37FE2934301c07c19a56')
  await page.getByText(/^✗ The EIP-55 checksum/).waitFor()
  await page.getByLabel('To address').fill('0xF0Aa84466e353E5390be37FE2934301c07c19a55')
  await page.getByText('✓ A valid address on ETHEREUM.').waitFor()
  await page.getByRole('textbox', { name: 'Figure' }).fill('100')
  await page.getByRole('button', { name: 'Guarantee a fee' }).click()
  await page.getByText('102.99 USDC').waitFor()
  const id = await page.locator('.card[data-id]').getAttribute('data-id')
  const left = page.getByRole('timer')
  const first = await left.textContent()
  await page.waitForFunction(
    (before) => document.querySelector('[role=timer]')?.textContent !== before,
    first,
  )
  const staff = await signedIn()
  await staff.page.keyboard.type(String(id))
  await staff.page.keyboard.press('Enter')
  await staff.page.locator('.card').getByText('OPEN').first().waitFor()
  assert.deepEqual(faults, [])
})

browserTest('health shows the store, the sources of fees, and the jobs', async () => {
  const { page, open } = await signedIn()
  await open('#/health')
  await page.getByRole('heading', { name: 'store' }).waitFor()
  const text = String(await page.locator('main').textContent())
  assert.match(text, /networks › BITCOIN.*schedule.*name\s*read-credentials/)
})

browserTest('nobody stays signed in without a key or a click', async () => {
  const { page, signIn } = await browsing.newPage()
  await page.clock.install()
  await signIn()
  await page.clock.runFor(14 * 60_000)
  await page.keyboard.press('Shift')
  await page.clock.runFor(14 * 60_000)
  assert.equal(await page.locator('#find').count(), 1)
  await page.clock.runFor(2 * 60_000)
  await page.getByText('You were signed out after 15 minutes without activity.').waitFor()
  assert.deepEqual(await page.evaluate(() => Object.keys(sessionStorage)), ['bursar.signed-out'])
})

browserTest(
  'a sandbox tab that is reloaded is where it was, and a new tab must sign in',
  async () => {
    const { page, open } = await signedIn()
    await open('#/list/statements?customer=acme')
    await rows(page)
    await page.reload()
    await rows(page)
    const other = await browsing.newPage()
    await other.page.goto(page.url())
    await other.page.getByRole('button', { name: 'Sign in as Operator staff' }).waitFor()
    const stored = await page.evaluate(() => JSON.stringify([sessionStorage, localStorage]))
    assert.ok(!/secret|eyJ/.test(stored), stored)
  },
)

browserTest('a client signs in with its id and secret, which are kept nowhere', async () => {
  const { page, faults } = await browsing.newPage()
  await page.goto(`${browsing.service.url}/console/`)
  await page.getByText('Sign in with a client id and secret').click()
  await page.getByLabel('Client id').fill('borealis_sandbox')
  await page.getByLabel('Client secret').fill('wrong')
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.getByText('The client id or its secret is wrong.').waitFor()
  await page.getByLabel('Client secret').fill('bursar_sandbox_secret_of_borealis')
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.locator('#find').waitFor()
  assert.equal(await page.locator('.customer').textContent(), 'borealis')
  const stored = await page.evaluate(() => JSON.stringify([sessionStorage, localStorage]))
  assert.ok(!/bursar_sandbox_secret|eyJ/.test(stored), stored)
  await page.reload()
  await page.getByText('Sign in with a client id and secret').waitFor()
  assert.deepEqual(faults, [])
})

describe('what one person leaves, the next one does not see', () => {
  browserTest('look-ups belong to who made them', async () => {
    const { page, signIn } = await signedIn()
    await page.keyboard.type(fixtureIds['fiat-accounts'])
    await page.keyboard.press('Enter')
    await page.locator('.card').waitFor()
    await page.evaluate(() => sessionStorage.removeItem('bursar.sandbox'))
    await page.goto('about:blank')
    await signIn('Borealis')
    assert.equal(await page.getByText('Recent look-ups').count(), 0)
  })

  browserTest('a full view of one customer is not one of another', async () => {
    const { page, open } = await signedIn()
    await open(`#/record/fiat-accounts/${fixtureIds['fiat-accounts']}?customer=acme`)
    await page.getByRole('button', { name: 'Show full account number' }).click()
    await page.getByText('5730008846').first().waitFor()
    await page.locator('.customer input').fill('borealis')
    await page.keyboard.press('Enter')
    await page.getByText('borealis has no such record').waitFor()
    assert.ok(!(await page.locator('body').textContent())?.includes('5730008846'))
  })

  browserTest('a sign-out stops an export', async () => {
    const { page, open } = await signedIn()
    await open('#/list/fiat-accounts?customer=acme')
    await rows(page)
    await page.evaluate('delete window.showSaveFilePicker')
    let exports = 0
    await page.route('**/*purpose=export*', async (route) => {
      exports += 1
      if (exports > 1) return
      await route.continue()
    })
    let downloads = 0
    page.on('download', () => {
      downloads += 1
    })
    await page.getByRole('button', { name: 'Export CSV' }).click()
    await page.getByText('1000 rows').waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByText('You have signed out.').waitFor()
    await page.waitForTimeout(300)
    assert.deepEqual([exports, downloads], [2, 0])
    assert.equal(new URL(page.url()).hash, '#/')
  })
})

browserTest('a click after a sleep does not keep the sign-in', async () => {
  const { page, signIn } = await browsing.newPage()
  await page.clock.install()
  await signIn()
  await page.clock.setSystemTime(Date.now() + 40 * 60_000)
  await page.locator('main').click()
  await page.getByText('You were signed out after 15 minutes').waitFor()
})

describe('times', () => {
  browserTest('a bound is the second that was typed, and a part of a time is refused', async () => {
    const { page, open } = await signedIn()
    await open('#/list/issuer-quote-executions?customer=acme')
    await rows(page)
    await page.getByText('Filters and order').click()
    const field = page
      .getByRole('group', { name: /Created from/ })
      .getByRole('spinbutton')
      .first()
    await field.focus()
    await page.keyboard.type('10312026')
    await page.getByRole('button', { name: 'Apply' }).click()
    await page.getByText(/A time has a part that is missing/).waitFor()
    await field.focus()
    await page.keyboard.type('10312026120000')
    await page.getByRole('button', { name: 'Apply' }).click()
    await page.waitForURL(/created_range.begin=2026-10-31T12%3A00%3A00Z/)
    await page.locator(`tr[data-id="${fixtureIds['issuer-quote-executions']}"]`).waitFor()
    assert.equal(await rowCount(page), 1)
  })

  browserTest('a switch to local time also changes the fields', async () => {
    const { page, signIn, open } = await browsing.newPage({ timezoneId: 'America/New_York' })
    await signIn()
    await open(
      '#/list/issuer-quote-executions?customer=acme&created_range.begin=2026-10-31T12:00:00Z',
    )
    await rows(page)
    assert.deepEqual(await columnOf(page, 'Created'), ['2026-10-31 12:00:00'])
    await page.getByRole('button', { name: /^Times are in UTC/ }).click()
    assert.deepEqual(await columnOf(page, 'Created'), ['2026-10-31 08:00:00'])
    const field = page.getByRole('group', { name: 'Created from (local)' })
    assert.match(String(await field.textContent()), /10\D+31\D+2026\D+08\D+00\D+00/)
  })
})

browserTest('a deleted account is marked, in the list and in the record', async () => {
  const token = await operatorToken(browsing.service, 'deleter', [
    'ingest:read_record',
    'ingest:write_fiat_accounts',
  ])
  const { body } = await browsing.service.call('/v2/transfer/fiat-accounts?limit=2')
  const [{ id: live }, { id }] = body.items
  const path = `/ingest/v1/fiat-accounts/${id}`
  assert.equal((await browsing.service.call(path, { token, method: 'DELETE' })).status, 204)
  const { page, open } = await signedIn()
  await open('#/list/fiat-accounts?customer=acme&include_deleted=true')
  await page.locator(`tr[data-id="${id}"]`).getByText('DELETED').waitFor()
  assert.equal(await page.locator(`tr[data-id="${live}"]`).getByText('DELETED').count(), 0)
  await open(`#/record/fiat-accounts/${id}?customer=acme`)
  await page.getByText('This fiat account is deleted.').waitFor()
})

browserTest('a screen that fails leaves the others', async () => {
  const { page, open } = await signedIn()
  await page.route('**/opened-screen-*', (route) => route.fulfill({ status: 404 }))
  await open('#/fees')
  await page.getByText('This screen cannot be shown.').waitFor()
  await page.getByRole('link', { name: 'Find' }).click()
  await page.locator('#find').waitFor()
  await page.unrouteAll()
  await page.evaluate(() =>
    localStorage.setItem('bursar.views console_sandbox statements', '{oops'),
  )
  await page.reload()
  await open('#/list/statements?customer=acme')
  await rows(page)
})
