import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe } from 'node:test'
import type { Page } from 'playwright-core'
import { fixtureIds } from '../../packages/sandbox/src/story.ts'
import { arrivesAt, browserTest, type ConsolePage, openBrowsing } from './support/browse.ts'

/**
 * What people of finance and operations come for: each by mouse, by keyboard alone, and on a phone.
 * A test prints the seconds and the clicks or keys that a task took.
 */

const browsing = openBrowsing()

/** How a person works: what they press, and how they get to an element. */
type Hand = {
  readonly page: Page
  /** Presses an element: a click, a tap, or the keys that reach it. */
  press(selector: string, keys?: readonly string[]): Promise<void>
  type(text: string): Promise<void>
  steps: number
}

type Way = 'mouse' | 'keyboard' | 'phone'

function handOf(page: Page, way: Way): Hand {
  const hand: Hand = {
    page,
    steps: 0,
    press: async (selector, keys = []) => {
      const target = page.locator(selector).locator('visible=true').first()
      await target.waitFor()
      if (way !== 'keyboard') {
        hand.steps += 1
        await (way === 'phone' ? target.tap() : target.click())
        return
      }
      for (const key of keys) await page.keyboard.press(key)
      hand.steps += keys.length
      if (keys.length > 0) return
      // Without keys of its own, an element is reached by Tab and pressed by Enter.
      await target.focus()
      await page.keyboard.press('Enter')
      hand.steps += 2
    },
    type: async (text) => {
      hand.steps += 1
      await page.keyboard.type(text)
      await page.keyboard.press('Enter')
    },
  }
  return hand
}

const findBox = (hand: Hand) => hand.press('#find', ['Escape', '/'])
const shown = (page: Page, text: string | RegExp) => page.getByText(text).first().waitFor()

type Task = {
  readonly name: string
  readonly do: (hand: Hand, opened: ConsolePage) => Promise<void>
}

const statementsEntry = '.nav [data-go=s], .tabbar a:has-text("Statements")'

const tasks: readonly Task[] = [
  {
    name: 'a deposit by its memo',
    do: async (hand) => {
      await findBox(hand)
      await hand.type('SANDBOXMEMO00001')
      await hand.page.locator('h1', { hasText: 'Memo SANDBOXMEMO00001' }).waitFor()
    },
  },
  {
    name: 'all shortfalls of all customers',
    do: async (hand) => {
      await hand.press('a[aria-label*="paid too little, USDG"]')
      await hand.page.locator('.records tr[data-id], .rows li').first().waitFor()
      const total = await hand.page.locator('.total-big, .shortfall-line b').first().textContent()
      assert.match(String(total), /^[\d,]+\.\d+/)
    },
  },
  {
    name: 'what a record was at the end of a day of last week',
    do: async (hand, { open }) => {
      await open(`#/record/fiat-accounts/${fixtureIds['fiat-accounts']}?customer=acme`)
      await shown(hand.page, /···8846/)
      await hand.page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur())
      await hand.press('[data-key=t]', ['t'])
      await hand.press('.days button >> nth=1')
      await arrivesAt(hand.page, /as_of=/)
      await shown(hand.page, /···8846|did not exist on|Not known on/)
      await hand.page.locator('.as-of.past').waitFor()
    },
  },
  {
    name: 'an exported list in a spreadsheet',
    do: async (hand) => {
      await hand.press(statementsEntry, ['Escape', 'g', 's'])
      await hand.page.locator('.records tr[data-id], .rows li').first().waitFor()
      const download = hand.page.waitForEvent('download')
      await hand.press('button:has-text("Spreadsheet")')
      const file = readFileSync(String(await (await download).path()))
      assert.equal(file.subarray(0, 2).toString(), 'PK')
      await shown(hand.page, /rows were written/)
    },
  },
  {
    name: 'whether an address is valid',
    do: async (hand, { open }) => {
      await open('#/fees')
      const box = hand.page.getByLabel('Address to check')
      await box.waitFor()
      await box.focus()
      await hand.type('0xF0Aa84466e353E5390be37FE2934301c07c19a56')
      await shown(hand.page, /^✗ The EIP-55 checksum/)
    },
  },
  {
    name: 'a link that a colleague opens',
    do: async (hand) => {
      await hand.press('a[aria-label*="paid too little, USDG"]')
      await hand.page.locator('.records tr[data-id], .rows li').first().waitFor()
      const titles = (page: Page) =>
        page
          .locator('.records tr[data-id], .rows li')
          .evaluateAll((rows) =>
            rows.map((row) => (row instanceof HTMLElement ? row.dataset.id : '')),
          )
      const colleague = await browsing.newPage()
      await colleague.signIn()
      await colleague.open(new URL(hand.page.url()).hash)
      await colleague.page.locator('.records tr[data-id]').first().waitFor()
      assert.deepEqual(await titles(colleague.page), await titles(hand.page))
    },
  },
  {
    name: 'quotes that failed since yesterday',
    do: async (hand) => {
      await hand.press('.nav [data-go=q], .tabbar .tab', ['Escape', 'g', 'q'])
      const isPhone = (hand.page.viewportSize()?.width ?? 0) < 760
      if (isPhone) await hand.press('.all-screens a:has-text("Issuer quotes")')
      await hand.press('.tabs a:has-text("Failed since yesterday")')
      await arrivesAt(hand.page, /status=FAILED/)
      await shown(hand.page, /all that match|No issuer quote/)
    },
  },
  {
    name: 'who saw the full number of an account',
    do: async (hand, { open }) => {
      await open(`#/record/fiat-accounts/${fixtureIds['fiat-accounts']}?customer=acme`)
      await hand.press('[data-key=v]', ['v'])
      await hand.page.getByText('Hide number').first().waitFor()
      await hand.page.reload()
      await hand.page.locator('.timeline').getByText('Seen in full').first().waitFor()
    },
  },
  {
    name: 'an account by the last four digits of its number',
    do: async (hand) => {
      await findBox(hand)
      await hand.type('8846')
      const heading = hand.page.getByText(/^Account number ends in 8846|···8846/).first()
      await heading.waitFor()
    },
  },
  {
    name: 'a fee and its withdrawal',
    do: async (hand) => {
      const { body: fee } = await browsing.service.call('/v2/transfer/fees/crypto-withdrawal', {
        method: 'POST',
        body: JSON.stringify({
          asset: 'USDC',
          crypto_network: 'ETHEREUM',
          destination_address: '0xF0Aa84466e353E5390be37FE2934301c07c19a55',
          amount: '100',
        }),
      })
      await findBox(hand)
      await hand.type(String(fee.id))
      const card = hand.page.locator(`.card[data-id="${fee.id}"]`)
      await card.waitFor()
      assert.match(String(await card.textContent()), /Open.*102\.99.*Withdrawalnone yet/)
    },
  },
]

const ways: readonly Way[] = ['mouse', 'keyboard', 'phone']

for (const way of ways) {
  describe(`by ${way}`, () => {
    for (const task of tasks) {
      browserTest(`${task.name}, by ${way}`, async (t) => {
        const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }
        const opened = await browsing.newPage(way === 'phone' ? phone : {})
        await opened.signIn()
        await opened.page.locator('.todo .go').first().waitFor()
        const hand = handOf(opened.page, way)
        await task.do(hand, opened)
        t.diagnostic(`${hand.steps} ${way === 'keyboard' ? 'keys' : 'presses'}`)
        assert.ok(hand.steps <= 8, `${hand.steps} steps`)
        assert.deepEqual(opened.faults, [])
      })
    }
  })
}
