import { limitsOf } from '@bursar/base'
import { Type } from 'typebox'
import { described, instant, onlyTrue, wholeNumber } from '../../fields.ts'
import { about } from '../../members.ts'
import { control, momentMember } from './sandbox-members.ts'

const limits = limitsOf({
  /** Ten years: past every life of a token, a fee and a key. */
  sandboxAdvanceSecondsMax: 315_360_000,
})

const view = {
  name: 'SandboxClock',
  schema: Type.Object(
    {
      now: momentMember('The time of the sandbox.'),
      is_real: about('Whether it is the time of the machine.', Type.Boolean()),
    },
    { description: 'The clock of the sandbox.' },
  ),
}

export const moveSandboxClock = control({
  id: 'moveSandboxClock',
  summary:
    'Moves the time for every customer: tokens and fees expire. Time goes on from there. Exactly one member must be given.',
  tag: 'Clock',
  method: 'POST',
  path: '/sandbox/clock',
  body: {
    closed: true,
    members: {
      now: described(instant, 'The time from now on: from 2000 to 2099.'),
      advance_seconds: described(
        wholeNumber(1, limits.sandboxAdvanceSecondsMax),
        'How far time jumps forward.',
      ),
      real: described(onlyTrue, 'Takes the time of the machine again.'),
    },
    required: [],
  },
  view,
})

export const readSandboxClock = control({
  id: 'readSandboxClock',
  summary: 'Reads the time of the sandbox.',
  tag: 'Clock',
  method: 'GET',
  path: '/sandbox/clock',
  view,
})
