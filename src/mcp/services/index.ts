export { readServiceConfig, type ServiceConfig } from './config.ts'
export { type ProcessHost, systemProcesses } from './handler-process.ts'
export { createServices, randomReference, type Services } from './services.ts'
export { readServices, type Service, slugOf } from './slug.ts'
