/**
 * The parts of `node:http` that the service uses. An `import` of the module would also load the
 * client of `fetch`, which is 6 MB and a tenth of the start.
 */
export const { createServer, IncomingMessage, STATUS_CODES } = process.getBuiltinModule('node:http')
