import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { recordKinds as kinds } from '@bursar/contract'
import { fixtureIds } from '../../packages/sandbox/src/story.ts'
import { untilHolds } from '../support/until.ts'
import { axeFaults, browserTest, type ConsolePage, openBrowsing } from './support/browse.ts'

/** axe finds nothing in any state and theme, and every screen can be used by keys alone. */

const browsing = openBrowsing()

type State = {
  readonly name: string
  readonly as?: string
  /** It leaves its page in a state that others do not expect. */
  readonly isAlone?: true
  readonly show: (opened: ConsolePage) => Promise<void>
}

const rows = ({ page }: ConsolePage) => page.locator('.records tbody tr[data-id]').first().waitFor()

const states: readonly State[] = [
  ...kinds.map((kind) => ({
    name: `the list of ${kind}`,
    show: async (opened: ConsolePage) => {
      await opened.open(`#/list/${kind}?customer=acme&limit=20`)
      await rows(opened)
    },
  })),
  ...kinds.map((kind) => ({
    name: `a record of ${kind}`,
    show: async ({ open, page }: ConsolePage) => {
      await open(`#/record/${kind}/${fixtureIds[kind]}?customer=acme`)
      await page.locator('.record .card').first().waitFor()
      await page.getByText('First version kept').waitFor()
    },
  })),
  {
    name: 'charts',
    show: async (opened) => {
      await opened.open('#/list/statements?customer=acme')
      await opened.page.locator('.plot g[role=img]').first().focus()
    },
  },
  ...['Columns', 'Views', 'As of now', 'Filter', 'Settings', 'Search or jump to'].map((button) => ({
    name: `the dialog of ${button}`,
    show: async (opened: ConsolePage) => {
      await opened.open('#/list/statements?customer=acme')
      await rows(opened)
      await opened.page.getByRole('button', { name: button }).first().click()
      await opened.page.getByRole('dialog').waitFor()
    },
  })),
  {
    name: 'hits',
    isAlone: true,
    show: async ({ page }) => {
      const { body } = await browsing.service.call('/v2/transfer/deposit-addresses?limit=1')
      await page.keyboard.type(body.items[0].identity_id)
      await page.keyboard.press('Enter')
      await page.locator('.hit').first().waitFor()
    },
  },
  {
    name: 'a list on its way',
    isAlone: true,
    show: async ({ open, page }) => {
      await page.route('**/ingest/v1/customers/**', () => {})
      await shows(open, page, '#/list/statements?customer=acme', 'Loading statements')
    },
  },
  {
    name: 'an empty list',
    show: ({ open, page }) =>
      shows(open, page, '#/list/statements?customer=acme&ref_ids=nothing', 'No record matches.'),
  },
  { name: 'no screen', show: ({ open, page }) => shows(open, page, '#/nowhere', 'no such screen') },
  {
    name: 'an error',
    show: ({ open, page }) =>
      shows(open, page, '#/list/statements?customer=acme&limit=0', 'Limit must be'),
  },
  {
    name: 'no connection',
    isAlone: true,
    show: async ({ open, page }) => {
      await page.route('**/ingest/v1/customers/**', (route) => route.abort('connectionrefused'))
      await shows(open, page, '#/list/statements?customer=acme', 'cannot be reached')
    },
  },
  {
    name: 'an ended sign-in',
    isAlone: true,
    show: async ({ open, page }) => {
      await page.route('**/ingest/v1/customers/**', (route) => route.fulfill({ status: 401 }))
      await shows(open, page, '#/list/statements?customer=acme', 'Your sign-in has ended.')
    },
  },
  { name: 'the overview', show: ({ open, page }) => shows(open, page, '#/', 'Needs attention') },
  {
    name: 'an unknown past',
    show: ({ open, page }) =>
      shows(
        open,
        page,
        `#/record/statements/${fixtureIds.statements}?customer=acme&as_of=2020-01-01T00:00:00Z`,
        'Not known on 1 January 2020',
      ),
  },
  {
    name: 'a refusal',
    isAlone: true,
    show: async ({ open, page }) => {
      const problem = { status: 403, json: { detail: 'the scope is missing', request_id: 'r-1' } }
      await page.route('**/ingest/v1/customers/**', (route) => route.fulfill(problem))
      await shows(open, page, '#/list/statements?customer=acme', 'You may not see this')
    },
  },
  { name: 'health', show: ({ open, page }) => shows(open, page, '#/health', 'Damage check') },
  { name: 'fees of staff', show: ({ open, page }) => shows(open, page, '#/fees', 'Look up') },
  { name: 'fees', as: 'Acme', show: ({ open, page }) => shows(open, page, '#/fees', 'Guarantee') },
]

async function shows(
  open: ConsolePage['open'],
  page: ConsolePage['page'],
  fragment: string,
  text: string,
): Promise<void> {
  await open(fragment)
  await page.getByText(text).first().waitFor()
}

const newPage = async (as?: string): Promise<ConsolePage> => {
  const opened = await browsing.newPage({ reducedMotion: 'reduce' })
  await opened.signIn(as)
  return opened
}

let shared: Promise<ConsolePage> | undefined
const staffPage = (): Promise<ConsolePage> => {
  shared ??= newPage()
  return shared
}

describe('axe finds nothing', () => {
  browserTest('in the sign-in, in either theme and on a narrow screen', async () => {
    const { page } = await browsing.newPage({ viewport: { width: 360, height: 640 } })
    await page.goto(`${browsing.service.url}/console/`)
    await page.getByText('Sign in with a client id and secret').click()
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      assert.deepEqual(await axeFaults(page), [], colorScheme)
    }
  })
  for (const { name, as, isAlone, show } of states) {
    browserTest(`in ${name}, in either theme`, async () => {
      const opened = isAlone || as !== undefined ? await newPage(as) : await staffPage()
      await show(opened)
      for (const colorScheme of ['light', 'dark'] as const) {
        await opened.page.emulateMedia({ colorScheme })
        assert.deepEqual(await axeFaults(opened.page), [], colorScheme)
      }
      await opened.page.keyboard.press('Escape')
      assert.deepEqual(opened.faults, [])
    })
  }
})

browserTest('no screen is wider than 360 pixels', async () => {
  const opened = await browsing.newPage({ viewport: { width: 360, height: 640 } })
  await opened.signIn()
  for (const kind of kinds) {
    for (const fragment of [
      `#/list/${kind}?customer=acme&limit=20`,
      `#/record/${kind}/${fixtureIds[kind]}?customer=acme`,
    ]) {
      await opened.open(fragment)
      await opened.page.locator('.rows li, .record .card').first().waitFor()
      const width = await opened.page.evaluate(() => document.documentElement.scrollWidth)
      assert.ok(width <= 360, `${fragment} has ${width} pixels`)
    }
  }
})

browserTest('no list of all customers is wider than the window of a laptop', async () => {
  for (const width of [1024, 1280, 1440]) {
    const opened = await browsing.newPage({ viewport: { width, height: 800 } })
    await opened.signIn()
    const lists = kinds.map((kind) => `#/list/${kind}`)
    const statements = ['shortfall=true&asset=USDG', 'customer=acme'].map(
      (query) => `#/list/statements?${query}`,
    )
    for (const fragment of [...lists, ...statements]) {
      await opened.open(fragment)
      await opened.page.locator('.records tr[data-id]').first().waitFor()
      // The first row is there before the chart and the columns have their widths.
      await untilHolds(`${fragment} has at most ${width} pixels`, () =>
        opened.page.evaluate((most) => document.documentElement.scrollWidth <= most, width),
      )
    }
  }
})

browserTest('keys alone sign in, find a record, show it in full and sign out', async () => {
  const { page, faults } = await browsing.newPage()
  await page.goto(`${browsing.service.url}/console/`)
  await page.getByRole('button', { name: 'Sign in as Operator staff' }).waitFor()
  const tabTo = async (name: RegExp) => {
    for (let presses = 0; presses < 60; presses += 1) {
      const focused = await page.evaluate(() => document.activeElement?.textContent ?? '')
      if (name.test(focused)) return
      await page.keyboard.press('Tab')
    }
    assert.fail(`no key reaches ${name}`)
  }
  await tabTo(/^Sign in as Operator staff$/)
  await page.keyboard.press('Enter')
  await page.locator('#find').waitFor()
  await page.keyboard.type(fixtureIds['fiat-accounts'])
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: /···8846$/ }).waitFor()
  await tabTo(/^Show number/)
  await page.keyboard.press('Enter')
  await page.getByText('5730008846').first().waitFor()
  await tabTo(/^Fiat accounts$/)
  await page.keyboard.press('Enter')
  await page.locator('.records tbody tr[data-id]').first().waitFor()
  await tabTo(/^As of now$/)
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.waitForFunction(() => document.activeElement?.textContent === 'As of now')
  await tabTo(/^Sign out$/)
  await page.keyboard.press('Enter')
  await page.getByText('You have signed out.').waitFor()
  assert.deepEqual(faults, [])
})
