import { setLimit } from '@bursar/base'

/** A server that loads this first begins no walk over its store. */
setLimit('walkFirstMs', 86_400_000)
