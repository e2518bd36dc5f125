import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe } from 'node:test'
import type { Page } from 'playwright-core'
import { fixtureIds } from '../../packages/sandbox/src/story.ts'
import { importInPart } from '../support/import-in-part.ts'
import { operatorToken } from '../support/operator-token.ts'
import { systemMs } from '../support/until.ts'
import { arrivesAt, axeFaults, browserTest, columnOf, openBrowsing } from './support/browse.ts'

/** What each screen promises, in a real browser. */

const browsing = openBrowsing()

async function signedIn(name?: string) {
  const opened = await browsing.newPage()
  await opened.signIn(name)
  return opened
}

const rowCount = (page: Page) => page.locator('.records tbody tr[data-id]').count()
const rows = (page: Page) => page.locator('.records tbody tr[data-id]').first().waitFor()
const pressSlash = async (page: Page) => {
  await page.keyboard.press('/')
  await page.locator('#find:focus').waitFor()
}
const clipboard = (page: Page) => page.evaluate(() => navigator.clipboard.readText())

describe('Find', () => {
  browserTest('a pasted memo leads to its customer with one key', async () => {
    const { page, faults } = await signedIn()
    assert.equal(await page.evaluate(() => document.activeElement?.id), 'find')
    await page.evaluate(() => navigator.clipboard.writeText('SANDBOXMEMO00001'))
    await page.keyboard.press('Control+V')
    await page.locator('.hit').waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Memo SANDBOXMEMO00001' }).waitFor()
    assert.match(await page.title(), /^Memo SANDBOXMEMO00001, deposit instructions · Bursar$/)
    assert.equal(await page.evaluate(() => document.activeElement?.tagName), 'H1')
    await page.locator('.bar .customer').filter({ hasText: /^Acme/ }).waitFor()
    await page.keyboard.press('c')
    assert.equal(await clipboard(page), fixtureIds['fiat-deposit-instructions'])
    await pressSlash(page)
    await page.getByRole('heading', { name: 'Recent look-ups' }).waitFor()
    assert.deepEqual(faults, [])
  })

  browserTest('of several hits, the arrows select, c copies and Enter opens', async () => {
    const { page } = await signedIn()
    const { body } = await browsing.service.call('/v2/transfer/deposit-addresses?limit=1')
    const [{ identity_id: identity }] = body.items
    await page.keyboard.type(identity)
    await page.keyboard.press('Enter')
    await page.locator('.hit:focus').waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('c')
    const id = await page.locator('li[data-id]:has(.hit:focus)').getAttribute('data-id')
    assert.equal(await clipboard(page), id)
    await page.keyboard.press('Enter')
    await page.locator(`article[data-id="${id}"]`).waitFor()
  })

  browserTest(
    'a customer is found by the start of its id or name, and opened by Enter',
    async () => {
      const { page, faults } = await signedIn()
      await page.keyboard.type('tarnf')
      await page.keyboard.press('Enter')
      await arrivesAt(page, /#\/\?customer=tarnfield/)
      await page.locator('.bar .customer').filter({ hasText: 'Tarnfield Remit' }).waitFor()
      await page.locator('h1').focus()
      await pressSlash(page)
      await page.keyboard.press('Control+A')
      await page.keyboard.type('pay')
      await page.keyboard.press('Enter')
      await page.locator('.hit:focus').waitFor()
      const found = page.locator('.hit .strong:has(mark)')
      assert.deepEqual(await found.allTextContents(), [
        'Quillmere Pay',
        'Acme Payments',
        'Brackwell Payroll',
      ])
      await page.keyboard.press('Enter')
      await arrivesAt(page, /#\/\?customer=quillmere/)
      assert.deepEqual(faults, [])
    },
  )

  browserTest('a word of a bank’s name leads to all accounts, each with that bank', async () => {
    const { page, open, faults } = await signedIn()
    await open('#/find?q=tidewell')
    const marked = page.locator('.hit:has(mark)')
    await page.locator('.hit').nth(19).waitFor()
    assert.equal(await marked.count(), 20)
    await page.getByRole('button', { name: 'Show more hits' }).click()
    await page.locator('.hit').nth(39).waitFor()
    assert.equal(await marked.count(), 40)
    const ids = await page
      .locator('li[data-id]:has(.hit)')
      .evaluateAll((all) => all.map((hit) => (hit instanceof HTMLElement ? hit.dataset.id : '')))
    assert.equal(new Set(ids).size, 40)
    assert.deepEqual(faults, [])
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
    await pressSlash(page)
    await page.keyboard.type(fixtureIds['fiat-accounts'])
    await page.keyboard.press('Enter')
    await page.getByText(/^Nothing has the identifier/).waitFor()
    assert.deepEqual(faults, [])
  })
})

browserTest('the overview says what an update changed, with the status before it', async () => {
  const { page, faults } = await signedIn()
  const changes = page.getByRole('table', { name: 'Last changes' })
  const updated = changes
    .getByRole('row')
    .filter({ hasText: /Pending\s*to→\s*(Approved|Complete)/ })
  await updated.first().waitFor()
  assert.deepEqual(faults, [])
})

browserTest('a dialog that cannot be loaded says so, and the screen stays', async () => {
  const { page } = await browsing.newPage()
  await page.route(/react-aria/, (route) => route.abort())
  await page.goto(`${browsing.service.url}/console/`)
  await page.getByRole('button', { name: 'Sign in as Operator staff' }).click()
  await page.locator('#attention').waitFor()
  await page.locator('h1').focus()
  await page.keyboard.press('t')
  await page.getByRole('alert').getByText('“As of” cannot be loaded.').waitFor()
  assert.ok(await page.locator('#attention').isVisible())
  await page.unroute(/react-aria/)
  await page.reload()
  await page.locator('#attention').waitFor()
  await page.locator('h1').focus()
  await page.keyboard.press('t')
  await page.getByRole('dialog', { name: 'As of' }).waitFor()
})

describe('lists', () => {
  browserTest(
    'filters, order and page are in the URL, which opens the same list again',
    async () => {
      const { page, open } = await signedIn()
      await open('#/list/issuer-quote-executions?customer=acme')
      await rows(page)
      await page.getByLabel('Status').selectOption('COMPLETE')
      await arrivesAt(page, /status=COMPLETE/)
      await page.getByLabel('Rows').selectOption('20')
      await arrivesAt(page, /status=COMPLETE.*limit=20|limit=20.*status=COMPLETE/)
      await page.getByRole('button', { name: 'Next page' }).click()
      await arrivesAt(page, /page_cursor=/)
      await rows(page)
      const ids = () =>
        page
          .locator('.records tbody tr[data-id]')
          .evaluateAll((all) => all.map((row) => row.dataset.id))
      await page.waitForFunction(
        () => document.querySelectorAll('.records tbody tr[data-id]').length === 20,
      )
      const before = await ids()
      assert.ok((await columnOf(page, 'Status')).every((text) => text.includes('Complete')))
      await page.reload()
      await rows(page)
      assert.deepEqual(await ids(), before)
    },
  )

  browserTest(
    'statements show owed beside paid, in the order of the server, and a chart by period',
    async () => {
      const { page, open } = await signedIn()
      await open('#/list/statements?customer=acme')
      await rows(page)
      assert.equal(await rowCount(page), 50)
      const { body } = await browsing.service.call('/v2/statements?customer_id=acme&limit=50')
      const ids = await page
        .locator('.records tbody tr[data-id]')
        .evaluateAll((all) => all.map((row) => row.dataset.id))
      assert.deepEqual(
        ids,
        body.statements.map(({ id }: { id: string }) => id),
      )
      // The heading shows the order of the server, and no heading sorts the loaded rows.
      const sorted = page.locator('.records th[aria-sort]')
      assert.deepEqual(await sorted.allTextContents(), ['Period'])
      assert.equal(await page.locator('.records th button, .records th [role=button]').count(), 0)
      const bars = page.locator('.plot g[role=img]')
      await bars.first().waitFor()
      await bars.first().focus()
      const name = String(await bars.first().getAttribute('aria-label'))
      const [, owed = ''] = /owed ([\d,.]+),/.exec(name) ?? []
      assert.ok(owed !== '', name)
      await page.locator('.readout').getByText(owed, { exact: true }).first().waitFor()
    },
  )

  browserTest('the page before is one press away, and a list keeps its place', async () => {
    const { page, open } = await signedIn()
    await open('#/list/deposit-addresses?customer=acme&limit=20')
    await rows(page)
    const first = await page.locator('.records tbody tr').first().getAttribute('data-id')
    for (const number of [2, 3]) {
      await page.getByRole('button', { name: 'Next page' }).click()
      await page.getByText(`Page ${number}, 20 rows`).waitFor()
    }
    await page.getByRole('button', { name: 'Previous page' }).click()
    await page.getByText('Page 2, 20 rows').waitFor()
    await page.getByRole('button', { name: 'Previous page' }).click()
    await page.locator(`.records tr[data-id="${first}"]`).waitFor()
    await page.getByLabel('Rows').selectOption('100')
    await page.waitForFunction(() => document.querySelectorAll('.records tr[data-id]').length > 50)
    await page.evaluate(() => scrollTo(0, 900))
    await page.waitForFunction(() => history.state?.scroll === 900)
    await page.locator('.records tr[data-id] a').nth(40).click()
    await page.locator('article[data-id]').waitFor()
    await page.goBack()
    await rows(page)
    await page.waitForFunction(() => scrollY === 900)
  })

  browserTest('J and K open the next record of the list that was left', async () => {
    const { page, open } = await signedIn()
    await open('#/list/fiat-accounts?customer=acme&limit=20')
    await rows(page)
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    const ids = await page
      .locator('.records tbody tr[data-id]')
      .evaluateAll((all) => all.map((row) => row.dataset.id))
    await page.keyboard.press('Enter')
    await page.locator(`article[data-id="${ids[1]}"]`).waitFor()
    await page.getByText('2 of 20 on its page').waitFor()
    await page.keyboard.press('j')
    await page.locator(`article[data-id="${ids[2]}"]`).waitFor()
    await page.keyboard.press('k')
    await page.locator(`article[data-id="${ids[1]}"]`).waitFor()
  })

  browserTest(
    'X selects rows, whose ids C copies together, and Escape unselects them',
    async () => {
      const { page, open, faults } = await signedIn()
      await open('#/list/statements?customer=acme&limit=20')
      await rows(page)
      for (const key of ['j', 'x', 'j', 'j', 'x', 'j', 'x', 'x']) await page.keyboard.press(key)
      await page.getByRole('status').getByText('2 rows selected').waitFor()
      const bar = page.getByRole('group', { name: 'Selected rows' })
      // It stays in sight while the list scrolls.
      assert.equal(await bar.evaluate((element) => getComputedStyle(element).position), 'sticky')
      const ids = await page
        .locator('.records tr[aria-selected=true]')
        .evaluateAll((selected) => selected.map((row) => (row as HTMLElement).dataset.id))
      await page.keyboard.press('c')
      await page.getByText('Copied').waitFor()
      assert.deepEqual((await clipboard(page)).split('\n'), ids)
      assert.deepEqual(await axeFaults(page), [])
      await page.keyboard.press('Escape')
      await page.getByText('2 rows selected').waitFor({ state: 'detached' })
      assert.equal(await page.locator('.records tr[aria-selected]').count(), 0)
      await page.keyboard.press('x')
      await page.getByRole('button', { name: 'Next page' }).click()
      await page.getByText('Page 2').waitFor()
      assert.equal(await page.getByText('selected').count(), 0)
      assert.deepEqual(faults, [])
    },
  )

  browserTest('a list of shortfalls says what is short in other assets', async () => {
    const { page, open } = await signedIn()
    await open('#/list/statements?shortfall=true&asset=USDG&order_by=SHORTFALL')
    await rows(page)
    const side = page.getByRole('region', { name: 'Total' })
    await side.getByText('Short in USDC too').waitFor()
    const other = await side.getByRole('link').textContent()
    await side.getByRole('link').click()
    await arrivesAt(page, /asset=USDC/)
    await side.getByText('Total shortfall, USDC').waitFor()
    assert.equal(await side.locator('.total-big').textContent(), other)
  })

  browserTest('no heading lies over a row, in a window of any width', async () => {
    const { page, open } = await signedIn()
    const lists = Object.keys(fixtureIds).map((kind) => `#/list/${kind}?customer=acme&limit=20`)
    const record = `#/record/statements/${fixtureIds.statements}?customer=acme`
    for (const width of [1440, 1280, 1024, 800]) {
      await page.setViewportSize({ width, height: 800 })
      for (const screen of [...lists, '#/customers', record]) {
        await open('#/nowhere')
        await page.getByText('no such screen').waitFor()
        await open(screen)
        await page.locator('main tbody tr').first().waitFor()
        const over = await page.evaluate(() => {
          const [head, row] = ['thead th', 'tbody tr'].map((name) =>
            document.querySelector(`main ${name}`)?.getBoundingClientRect(),
          )
          return (head?.bottom ?? Number.NaN) - (row?.top ?? Number.NaN)
        })
        assert.ok(over <= 1, `${screen} at ${width}: ${over}`)
      }
    }
  })

  browserTest('columns and views are kept for the person', async () => {
    const { page, open } = await signedIn()
    await open('#/list/statements?customer=acme&statuses=STATEMENT_STATUS_PAID')
    await rows(page)
    await page.getByRole('button', { name: 'Columns' }).click()
    await page.getByLabel('Product').check()
    await page.keyboard.press('Escape')
    assert.ok((await columnOf(page, 'Product')).includes('USDG rewards'))
    await page.getByRole('button', { name: 'Views' }).click()
    await page.getByLabel('Save these filters as').fill('settled')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await open('#/list/statements?customer=acme')
    await page.getByRole('button', { name: 'Views (1)' }).waitFor()
    await page.getByRole('link', { name: 'settled' }).click()
    await arrivesAt(page, /statuses=STATEMENT_STATUS_PAID/)
    await rows(page)
    assert.ok((await columnOf(page, 'Status')).every((text) => text.includes('Paid')))
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
      assert.match(String(lines[0]), /^\uFEFFaddress,crypto_network,/)
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
    await page.getByRole('heading', { name: /···8846$/ }).waitFor()
    assert.ok(!(await page.locator('main').textContent())?.includes('5730008846'))
    await page.getByRole('button', { name: 'Show number' }).first().click()
    await page.getByText('5730008846').first().waitFor()
    // The number is in the slip, and neither in the URL nor in the title of the tab.
    assert.ok(!(await page.title()).includes('5730008846'))
    const slip = page.locator('.slip').first()
    const text = String(await slip.textContent())
    assert.match(text, /5730008846.*Owner.*United States.*Bank.*Routing number.*\d{9}/)
    await page.locator('canvas.qr').waitFor()
    await page.getByText('First version kept').waitFor()
    await page.getByRole('button', { name: 'Hide number' }).first().click()
    await page.getByRole('button', { name: 'Show number' }).first().waitFor()
    assert.ok(!(await page.locator('main').textContent())?.includes('5730008846'))
    assert.deepEqual(faults, [])
  })

  browserTest(
    'who opens an account has not seen it in full, and who shows its number has',
    async () => {
      const { page, open } = await signedIn()
      const { body } = await browsing.service.call('/v2/transfer/fiat-accounts?limit=4')
      const { id } = body.items[3]
      await open(`#/record/fiat-accounts/${id}?customer=acme`)
      const head = page.locator('.card:has(#history) header p')
      await page.getByText('First version kept').waitFor()
      assert.match(String(await head.textContent()), /, 0 reads$/)
      await page.getByRole('button', { name: 'Show number' }).first().click()
      await page.getByText('Hide number').first().waitFor()
      await page.reload()
      await page.locator('.timeline').getByText('Seen in full').waitFor()
      assert.match(String(await head.textContent()), /, 1 read$/)
    },
  )

  browserTest('a full number is hidden again after a minute', async () => {
    const { page, signIn, open } = await browsing.newPage()
    await page.clock.install()
    await signIn()
    await open(`#/record/fiat-accounts/${fixtureIds['fiat-accounts']}?customer=acme`)
    await page.getByRole('button', { name: 'Show number' }).first().click()
    await page.getByText('5730008846').first().waitFor()
    await page.clock.runFor(61_000)
    await page.getByRole('button', { name: 'Show number' }).first().waitFor()
    assert.ok(!(await page.locator('main').textContent())?.includes('5730008846'))
  })

  browserTest('an instant from before records were kept shows that it is unknown', async () => {
    const { page, open } = await signedIn()
    await open(
      `#/record/statements/${fixtureIds.statements}?customer=acme&as_of=2020-01-01T00:00:00Z`,
    )
    await page.getByText('Not known on 1 January 2020').waitFor()
    await page.getByText(/^Kept since .* 20\d\d, .*; earlier states are unknown\.$/).waitFor()
    assert.equal(await page.getByText('no such record').count(), 0)
    assert.equal(await page.getByRole('button', { name: 'Try again' }).count(), 0)
    await page.getByRole('button', { name: /^As of 1 Jan 2020/ }).click()
    await page.getByRole('button', { name: 'Show now' }).click()
    await page.getByText('128,223.281643').first().waitFor()
  })

  browserTest('a record that is known not to have been there says so', async () => {
    const { page, open } = await signedIn()
    const id = '99999999-9999-4999-8999-999999999999'
    await open(`#/record/statements/${id}?customer=acme&as_of=${new Date().toISOString()}`)
    await page.getByText(/^This statement did not exist on /).waitFor()
    assert.equal(await page.getByText('Not known on').count(), 0)
  })

  browserTest('a deposit address shows its owner, its validity and a code', async () => {
    const { page, open } = await signedIn()
    await open(`#/record/deposit-addresses/${fixtureIds['deposit-addresses']}?customer=acme`)
    await page.getByText('✓ A valid address on Bitcoin.').waitFor()
    await page.locator('[data-member=identity_id]').waitFor()
    await page.locator('canvas.qr').waitFor()
  })

  browserTest('the history of a statement has figures, and no names of the API', async () => {
    const { page, open } = await signedIn()
    await open(`#/record/statements/${fixtureIds.statements}?customer=acme`)
    const paid = page.locator('.timeline > li').filter({ hasText: 'Paid on' })
    assert.match(String(await paid.textContent()), /Paid 0to→128,223\.281643 USDG/)
    assert.doesNotMatch(String(await page.locator('.timeline').textContent()), /[{}[\]]|amount_/)
  })

  browserTest('a point shows the record as the API answers it', async () => {
    const { page, open } = await signedIn('Acme')
    await open(`#/record/statements/${fixtureIds.statements}`)
    await page.getByRole('heading', { name: /^Oct 2026/ }).waitFor()
    await page.keyboard.press('.')
    const shown = JSON.parse(String(await page.locator('[role=dialog] pre').textContent()))
    const query = `customer_id=acme&statement_ids=${fixtureIds.statements}`
    const { body } = await browsing.service.call(`/v2/statements?${query}`)
    assert.deepEqual(shown, body.statements[0])
  })
})

browserTest('a customer asks for a fee with its amount, and sees how long it holds', async () => {
  const { page, open, faults } = await signedIn('Acme')
  await open('#/fees')
  await page.getByLabel('To address').fill('0xF0Aa84466e353E5390be37FE2934301c07c19a56')
  await page.getByText(/^✗ The EIP-55 checksum/).waitFor()
  await page.getByLabel('To address').fill('0xF0Aa84466e353E5390be37FE2934301c07c19a55')
  await page.getByText('✓ A valid address on Ethereum.').waitFor()
  await page.getByRole('textbox', { name: 'Figure' }).fill('100')
  await page.getByRole('button', { name: 'Guarantee a fee' }).click()
  const sum = page.locator('.card[data-id]')
  await sum.waitFor()
  assert.match(
    String(await sum.textContent()),
    /Arrives100 USDC.*2\.99 USDC.*Total with fee102\.99 USDC/,
  )
  const id = await sum.getAttribute('data-id')
  const left = page.getByRole('timer')
  const first = await left.textContent()
  await page.waitForFunction(
    (before) => document.querySelector('[role=timer]')?.textContent !== before,
    first,
  )
  const staff = await signedIn()
  await staff.page.keyboard.type(String(id))
  await staff.page.keyboard.press('Enter')
  await staff.page.locator('.card .status').getByText('Open').waitFor()
  assert.deepEqual(faults, [])
})

browserTest('health shows the store, the sources of fees, and the jobs', async () => {
  const { page, open } = await signedIn()
  await open('#/health')
  await page.getByRole('heading', { name: 'Store' }).waitFor()
  const text = String(await page.locator('main').textContent())
  assert.match(
    text,
    /Credentials.*Read \d+ seconds? ago.*Bitcoin.*schedule.*Jobs.*Read credentials/,
  )
})

browserTest('the overview and the health show that an import skipped records', async () => {
  await importInPart(browsing.service.parts.store)
  const { page, open } = await signedIn()
  await page.getByText(/^Imports: .*1 stored in part in the last hour$/).waitFor()
  await open('#/health')
  const card = page.getByRole('region', { name: 'Imports' })
  await card.getByText(/1 stored in part in the last hour/).waitFor()
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
  assert.equal(await page.locator('.bar .customer').textContent(), 'borealis')
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
    await page.locator('.slip').first().waitFor()
    await page.evaluate(() => sessionStorage.removeItem('bursar.sandbox'))
    await page.goto('about:blank')
    await signIn('Borealis')
    assert.equal(await page.getByText('Recent look-ups').count(), 0)
  })

  browserTest('a full view of one customer is not one of another', async () => {
    const { page, open } = await signedIn()
    await open(`#/record/fiat-accounts/${fixtureIds['fiat-accounts']}?customer=acme`)
    await page.getByRole('button', { name: 'Show number' }).first().click()
    await page.getByText('5730008846').first().waitFor()
    await open(`#/record/fiat-accounts/${fixtureIds['fiat-accounts']}?customer=borealis`)
    await page.getByText(/has no such record$/).waitFor()
    assert.ok(!(await page.locator('body').textContent())?.includes('5730008846'))
  })

  browserTest('a link, a reload and the back button never show a list in full', async () => {
    const { page, open } = await signedIn()
    const views: string[] = []
    page.on('request', (request) => {
      const asked = new URL(request.url())
      if (!asked.pathname.endsWith('/fiat-accounts')) return
      views.push(asked.searchParams.get('view') ?? 'masked')
    })
    const masked = page.getByRole('button', { name: 'Show in full', exact: true })
    const full = page.getByRole('button', { name: 'Show as they see it' })
    const isMasked = async () => {
      await masked.waitFor()
      await rows(page)
      assert.deepEqual(
        views.splice(0).filter((view) => view !== 'masked'),
        [],
      )
    }
    const showInFull = async () => {
      await masked.click()
      await full.waitFor()
      await rows(page)
      assert.ok(views.splice(0).includes('full'))
    }
    await open('#/list/fiat-accounts?customer=acme&view=full')
    await isMasked()
    await showInFull()
    await page.getByRole('button', { name: 'Next page' }).click()
    await page.getByText(/^Page 2/).waitFor()
    await full.waitFor()
    assert.deepEqual(views.splice(0), ['full'])
    await page.reload()
    await isMasked()
    await showInFull()
    await full.click()
    await isMasked()
    await page.goBack()
    await isMasked()
    await page.goForward()
    await isMasked()
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
    await page.getByText('1000 rows', { exact: true }).waitFor()
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
  await page.clock.setSystemTime(systemMs() + 40 * 60_000)
  await page.locator('main').click()
  await page.getByText('You were signed out after 15 minutes').waitFor()
})

describe('times', () => {
  browserTest('a bound is the second that was typed, and a part of a time is refused', async () => {
    const { page, open } = await signedIn()
    await open('#/list/issuer-quote-executions?customer=acme')
    await rows(page)
    await page.keyboard.press('f')
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
    await arrivesAt(page, /created_range.begin=2026-10-31T12%3A00%3A00Z/)
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
    const times = () => page.locator('.records td time, .records th time').allTextContents()
    assert.deepEqual(await times(), ['31 Oct, 12:00'])
    await page.getByRole('button', { name: /^Times are in UTC/ }).click()
    assert.deepEqual(await times(), ['31 Oct, 08:00'])
    const title = await page.locator('.records time').getAttribute('title')
    assert.equal(title, '31 Oct 2026, 08:00:00 local time')
    await page.keyboard.press('f')
    const field = page.getByRole('group', { name: 'Created from (local)' })
    assert.match(String(await field.textContent()), /10\D+31\D+2026\D+08\D+00\D+00/)
  })
})

browserTest('a deleted account is marked, in the list and in the record', async () => {
  const token = await operatorToken(browsing.service, 'deleter', [
    'ingest:read_record',
    'ingest:write_fiat_accounts',
  ])
  const { body } = await browsing.service.call('/v2/transfer/fiat-accounts?limit=4')
  const [{ id: live }, { id }] = body.items
  const path = `/ingest/v1/fiat-accounts/${id}`
  assert.equal((await browsing.service.call(path, { token, method: 'DELETE' })).status, 204)
  const { page, open } = await signedIn()
  await open('#/list/fiat-accounts?customer=acme&include_deleted=true')
  await page.locator(`tr[data-id="${id}"]`).getByText('Deleted').waitFor()
  assert.equal(await page.locator(`tr[data-id="${live}"]`).getByText('Deleted').count(), 0)
  await open(`#/record/fiat-accounts/${id}?customer=acme`)
  await page.getByText('This fiat account is deleted.').waitFor()
})

browserTest('a screen that fails leaves the others', async () => {
  const { page, open } = await browsing.newPage()
  await page.route('**/opened-screen-*', (route) => route.fulfill({ status: 404 }))
  await page.goto(`${browsing.service.url}/console/`)
  await page.getByRole('button', { name: 'Sign in as Operator staff' }).click()
  await page.getByText('This screen cannot be shown').waitFor()
  await page.unrouteAll()
  await page.evaluate(() =>
    localStorage.setItem('bursar.views console_sandbox statements', '{oops'),
  )
  await page.reload()
  await page.locator('#find').waitFor()
  await open('#/list/statements?customer=acme')
  await rows(page)
})
