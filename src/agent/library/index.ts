/** What `import … from 'ct-agent'` gives. */
export { CtError } from '../../core/errors.ts'
export type * from './api.ts'
export { connect } from './connect.ts'
export { serve } from './serve.ts'
