export { bannerOf } from './banner.ts'
export { acme } from './sample-records.ts'
export { openSandbox } from './sandbox.ts'
